# tools: places
# kind: star assignment
# expect: missing-key line 5
*before, last = list_storm_track(storm_id="st_a2b3c")["observations"]
print(len(before), last["latitude"])
