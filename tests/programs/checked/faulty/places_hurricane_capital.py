# tools: places
# kind: status compared with a value of other case
# expect: never-equal line 9
storm = next(s for s in search_storms(query="Andrew") if s["season"] == 1992)
track = list_storm_track(storm_id=storm["storm_id"], page_size=100)["observations"]
hurricane_hours = []
for step in track:
    reading = get_observation(observation_id=step["observation_id"])
    if reading["status"] == "Hurricane":
        hurricane_hours.append(reading["time"])
print(f"{len(hurricane_hours)} observations as a hurricane")
