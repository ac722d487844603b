# tools: places
# expect: wrong-operand line 8
winds = {}
for storm in search_storms(query="Sandy"):
    track = list_storm_track(storm_id=storm["storm_id"])
    winds[storm["season"]] = [point["wind_kt"] for point in track["observations"]]
for season, found in winds.items():
    print(season, " ".join(found))
