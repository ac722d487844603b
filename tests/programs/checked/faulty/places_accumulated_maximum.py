# tools: places
# kind: loops
# expect: missing-key line 8
strongest = {"wind_kt": 0, "time": ""}
for point in list_storm_track(storm_id="st_a2b3c")["observations"]:
    if point["wind_kt"] > strongest["wind_kt"]:
        strongest = point
print(strongest["time"], strongest["pressure_hpa"])
