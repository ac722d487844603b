# tools: flights
# kind: sorted(key=…)
# expect: missing-key line 6
pairs = [(f["scheduled_departure"], f) for f in list_departures(origin="JFK", date="2013-04-01")["flights"]]
pairs.sort(key=lambda pair: pair[0])
print(pairs[0][1]["number"])
