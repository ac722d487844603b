# tools: flights
# expect: doubled-argument line 5
for code in list_destinations(origin="EWR")[:5]:
    way = {"origin": "EWR", "destination": code}
    print(get_route(origin="LGA", **way)["distance_miles"])
