# tools: places
# kind: lambda in map and filter
# expect: missing-key line 5
track = list_storm_track(storm_id="st_a2b3c")["observations"]
strong = list(filter(lambda o: o["category"] >= 3, track))
print(len(strong))
