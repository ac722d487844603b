# tools: places
# expect: never-equal line 13
# fault: status is 'hurricane' in small letters in the enum, so comparing it with 'Hurricane' is never true.
KIND = "Hurricane"
storms = search_storms(query="Katrina", season=2005, limit=1)
ids, page, pages = [], 1, 1
while storms and page <= pages:
    part = list_storm_track(storm_id=storms[0]["storm_id"], page=page, page_size=100)
    ids += [point["observation_id"] for point in part["observations"]]
    page, pages = page + 1, part["pages"]

readings = map(lambda i: get_observation(observation_id=i), ids)
as_hurricane = [r["time"] for r in readings if r["status"] == KIND]
if as_hurricane:
    print(f"A hurricane from {min(as_hurricane)} to {max(as_hurricane)}")
else:
    print("Never a hurricane")
