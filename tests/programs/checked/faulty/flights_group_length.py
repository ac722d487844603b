# tools: flights
# expect: not-a-list line 13
# expect: not-a-list line 14
# fault: groupby gives (key, iterator) pairs and len() of the group iterator is a TypeError
from itertools import groupby
from operator import itemgetter

by_destination = itemgetter("destination")
page = list_plane_flights(tail_number="N328AA", page_size=200)
flights = sorted(page["flights"], key=by_destination)
best, best_count = "nowhere", 0
for destination, trips in groupby(flights, key=by_destination):
    if len(trips) > best_count:
        best, best_count = destination, len(trips)
print(f"Most often to {best}: {best_count} of {page['total']}")
