# tools: flights
# kind: max and min
# expect: missing-key line 7
from operator import itemgetter

near = list_nearby_airports(airport="BOS", radius_km=200)
print(max(near, key=itemgetter("distance_miles"))["code"])
