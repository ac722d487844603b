# tools: places
# kind: dataclasses
# expect: no-attribute line 15
from dataclasses import dataclass


@dataclass(frozen=True)
class Stop:
    city: str
    zone: str


city = get_city(city_id="ci_a2b3c")
stop = Stop(city["name"], city["time_zone_id"])
print(stop.name)
