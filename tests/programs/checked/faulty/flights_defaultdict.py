# tools: flights
# kind: defaultdict
# expect: missing-key line 10
from collections import defaultdict

by_airline = defaultdict(list)
for flight in list_departures(origin="EWR", date="2013-10-31", page_size=200)["flights"]:
    by_airline[flight["airline"]].append(flight)
for airline, flights in by_airline.items():
    print(airline, flights[0]["departure"])
