# tools: flights
# kind: itertools
# expect: missing-key line 8
from itertools import pairwise

flights = list_plane_flights(tail_number="N14228")["flights"]
for one, following in pairwise(flights):
    if one["destination"] != following["start"]:
        print(one["flight_id"])
