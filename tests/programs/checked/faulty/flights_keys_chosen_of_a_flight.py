# tools: flights
# expect: unknown-argument line 5
flight = get_flight(flight_id="abcde")
way = {k: flight[k] for k in ("origin", "airline")}
print(list_route_airlines(destination="MIA", **way))
