# tools: flights
# expect: not-a-list line 4
# says: ['flights']
print(list_departures(origin="JFK", date="2013-01-01")[:5])
