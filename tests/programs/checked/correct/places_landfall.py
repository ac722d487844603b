# tools: places
# expect: none
storm = max(search_storms(query="Andrew"), key=lambda s: s["season"])
page, peak = 1, None
while True:
    track = list_storm_track(storm_id=storm["storm_id"], page=page, page_size=100)
    for point in track["observations"]:
        if peak is None or point["wind_kt"] > peak["wind_kt"]:
            peak = point
    if track["page"] >= track["pages"]:
        break
    page += 1
assert peak
details = get_observation(observation_id=peak["observation_id"])
print(details["time"], details["status"], details["category"] if details["category"] else "-")
