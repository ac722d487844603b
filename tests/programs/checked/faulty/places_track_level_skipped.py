# tools: places
# kind: field read from the list instead of its items
# expect: not-an-object line 10
def peak_wind(storm_id):
    first = list_storm_track(storm_id=storm_id, page_size=100)
    winds = [o["wind_kt"] for o in first["observations"]]
    for page in range(2, first["pages"] + 1):
        more = list_storm_track(storm_id=storm_id, page=page, page_size=100)
        winds.extend(o["wind_kt"] for o in more["observations"])
    start = first["observations"]["time"]
    return max(winds), start[:10]


season = 1992
table = []
for storm in list_season_storms(season=season):
    wind, began = peak_wind(storm["storm_id"])
    if wind >= 64:
        table.append((wind, began, storm["name"]))
table.sort(reverse=True)
for wind, began, name in table:
    print(f"{name:<10} from {began}: {wind} kt")
