# tools: places
# expect: none
# why: a time with a T is compared with a date, but only its first ten characters or by startswith.
DAY = "2012-10-29"
storms = {sid: get_storm(storm_id=sid) for sid in list_active_storms(date=DAY)}
for storm_id, storm in storms.items():
    began_before = storm["first_time"] < DAY
    peak, number, pages = None, 1, 1
    while number <= pages:
        track = list_storm_track(storm_id=storm_id, page=number)
        pages = track["pages"]
        for point in track["observations"]:
            if point["time"][:10] == DAY or point["time"].startswith(f"{DAY}T"):
                peak = max(peak or 0, point["wind_kt"])
        number += 1
    print(storm["name"], "began before" if began_before else "new", "-" if peak is None else f"{peak} kt")
else:
    print(len(storms), "storms in all")
