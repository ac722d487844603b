# tools: flights
# kind: hour cut from a time stays text
# expect: wrong-argument-type line 11
flight = find_flights(airline="UA", flight_number=1545, date="2013-01-01")[0]
hour, minute = flight["scheduled_departure"].split(":")

later = []
page = 1
while True:
    route = {"origin": flight["origin"], "destination": flight["destination"]}
    board = list_departures(**route, date=flight["date"], from_hour=hour, page=page)
    later += [
        f for f in board["flights"]
        if f["flight_id"] != flight["flight_id"] and f["scheduled_departure"][3:] >= minute
    ]
    if page == board["pages"]:
        break
    page += 1

print("; ".join(f"{f['airline']}{f['flight_number']} at {f['scheduled_departure']}" for f in later) or "none")
