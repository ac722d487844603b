# tools: flights
# kind: dict merge
# expect: missing-key line 6
flight = get_flight(flight_id="a2b3c")
full = flight | {"airline_name": get_airline(airline=flight["airline"])["name"]}
print(full["airline_name"], full["departure_time"])
