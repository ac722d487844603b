# tools: flights
# expect: none
from functools import partial

board = partial(list_departures, date="2013-09-02", page_size=100)
counts = {origin: board(origin=origin, airline="DL")["total"] for origin in ("EWR", "JFK", "LGA")}
busiest = max(counts, key=counts.get)
first, = board(origin=busiest, airline="DL", page_size=1)["flights"]
hour, minute = map(int, first["scheduled_departure"].split(":"))
print(busiest, counts[busiest], hour * 60 + minute)
