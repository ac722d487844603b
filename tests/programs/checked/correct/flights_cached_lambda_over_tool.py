# tools: flights
# expect: none
# why: a cached lambda stands for a tool with a positional parameter; time_zone may be null and is replaced before sorting
import functools
from collections import defaultdict

airport = functools.cache(lambda code: get_airport(airport=code))
zones = defaultdict(set)

for origin in {"EWR", "LGA"}:
    for code in list_destinations(origin=origin):
        zones[airport(code)["time_zone"] or "(unknown)"].add(code)

width = max(map(len, zones), default=0)
for zone, codes in sorted(zones.items()):
    names = sorted(airport(c)["name"] for c in codes)
    print(f"{zone:<{width}} {len(codes):>3} {names[0]}")
print(airport.cache_info().misses, "lookups")
