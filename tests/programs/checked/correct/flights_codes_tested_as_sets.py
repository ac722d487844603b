# tools: flights
# expect: none
wanted = {"UA", "AA"}
flights = [f for f in list_departures(origin="JFK", date="2013-01-01")["flights"] if f["airline"] in wanted]
early = [f for f in flights if f["scheduled_departure"] < "06:00" and f["destination"] != "BOS"]
print(len(early), [f for f in flights if f["airline"] == "B6" and f["flight_number"] in (1, 2)], [f for f in flights if f["airline"] in ["US", "Delta"]])
