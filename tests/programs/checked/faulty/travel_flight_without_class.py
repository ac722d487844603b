# tools: bfcl:travel_booking
# kind: missing argument
# expect: missing-argument line 6
home = get_nearest_airport_by_city(location="Rivermist")["nearest_airport"]
away = get_nearest_airport_by_city(location="Stonebrook")["nearest_airport"]
costs = get_flight_cost(travel_from=home, travel_to=away, travel_date="2024-11-15")
print(min(costs["travel_cost_list"]))
