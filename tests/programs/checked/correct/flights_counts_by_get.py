# tools: flights
# expect: none
counts = {}
for f in list_departures(origin="EWR", date="2013-02-14")["flights"]:
    counts[f["airline"]] = counts.get(f["airline"], 0) + 1
best = max(counts, key=counts.get)
print(get_airline(airline=best)["name"], counts[best])
