# tools: flights
# expect: missing-argument line 4
# says: origin, date
print(list_departures()["total"])
