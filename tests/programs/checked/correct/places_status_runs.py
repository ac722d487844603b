# tools: places
# expect: none
from itertools import groupby

storm = search_storms(query="Katrina", season=2005)[0]["storm_id"]
steps = list_storm_track(storm_id=storm, page_size=100)["observations"][:14]
readings = [get_observation(observation_id=s["observation_id"]) for s in steps]
runs = [(status, len([*group])) for status, group in groupby(readings, lambda r: r["status"])]
width = max(len(status) for status, _ in runs)
for status, length in runs:
    print(f"{status:>{width}} {'#' * length}")
strongest = max(readings, key=lambda r: (r["category"] or 0, r["wind_kt"]))
print(strongest["time"].replace("T", " "), strongest["pressure_hpa"])
