# tools: places
# expect: none-value line 21
# fault: category is null unless the storm was a hurricane; Reading.category is used as sort key untested, and None cannot be compared with int.
from typing import NamedTuple, Optional


class Reading(NamedTuple):
    time: str
    category: Optional[int]
    pressure: int


def readings(storm_id):
    for point in list_storm_track(storm_id=storm_id, page_size=100)["observations"]:
        o = get_observation(observation_id=point["observation_id"])
        yield Reading(o["time"], o["category"], o["pressure_hpa"])


storms = search_storms(query="Andrew", season=1992)
if storms:
    ordered = sorted(readings(storms[0]["storm_id"]), key=lambda r: (r.category, -r.pressure), reverse=True)
    for r in ordered[:3]:
        print(r.time, r.category, f"{r.pressure} hPa")
else:
    print("No such storm")
