# tools: flights
# kind: unknown argument
# expect: unknown-argument line 4
page = list_departures(airport="JFK", date="2013-02-03")
print(page["total"])
