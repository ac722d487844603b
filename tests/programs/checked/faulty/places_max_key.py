# tools: places
# kind: max and min
# expect: missing-key line 5
track = list_storm_track(storm_id="st_a2b3c", page_size=100)["observations"]
peak = max(track, key=lambda point: point["wind"])
print(peak["time"])
