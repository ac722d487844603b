# tools: flights
# kind: date written the American way
# expect: bad-literal line 4
evening = list_departures(origin="EWR", date="07/04/2013", from_hour=20, page_size=100)
by_airline = {}
for f in evening["flights"]:
    by_airline[f["airline"]] = by_airline.get(f["airline"], 0) + 1
top = max(by_airline.items(), key=lambda kv: kv[1])
print(get_airline(airline=top[0])["name"], top[1])
