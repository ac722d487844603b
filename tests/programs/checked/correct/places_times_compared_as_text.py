# tools: places
# expect: none
# why: The times are texts of one form, so they may be compared with a day's prefix, cut and sorted as text.
DAY = "2005-08-29"
rows = []
for storm_id in list_active_storms(date=DAY):
    storm = get_storm(storm_id=storm_id)
    page, pages = 0, 1
    while (page := page + 1) <= pages:
        part = list_storm_track(storm_id=storm_id, page=page, page_size=100)
        pages = part["pages"]
        rows += [
            (point["time"], storm["name"], point["wind_kt"])
            for point in part["observations"]
            if f"{DAY}T00:00" <= point["time"] <= f"{DAY}T23:00"
        ]
        if part["observations"] and part["observations"][-1]["time"][:10] > DAY:
            break

for time, name, wind in sorted(rows):
    print(f"{time[11:16]}  {name:<12}{wind:>4} kt")
print(f"{len(rows)} observations on {DAY}")
