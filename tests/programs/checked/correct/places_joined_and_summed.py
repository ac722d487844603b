# tools: places
# expect: none
winds = {}
for storm in search_storms(query="Sandy"):
    track = list_storm_track(storm_id=storm["storm_id"])
    winds[storm["season"]] = [str(point["wind_kt"]) for point in track["observations"]]
rows = [[len(found), 1] for found in winds.values()]
for season, found in winds.items():
    print(season, " ".join(found))
print(sum(rows, []), sum(map(sum, rows)), sum((row[0] for row in rows), start=0))
