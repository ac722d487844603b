# tools: flights
# kind: Counter
# expect: missing-key line 7
from collections import Counter

flights = list_departures(origin="JFK", date="2013-04-01")["flights"]
print(Counter(flight["carrier"] for flight in flights).most_common(3))
