# tools: flights
# expect: none
# why: None may take part in a subtraction, but TypeError is caught there and counted
made_up, unknown = [], 0
board = list_departures(origin="JFK", date="2013-06-13", from_hour=18, page_size=30)
for entry in board["flights"]:
    status = get_flight_status(flight_id=entry["flight_id"])
    try:
        gained = status["departure_delay_minutes"] - status["arrival_delay_minutes"]
    except TypeError:
        unknown += 1
    else:
        made_up.append((gained, entry["flight_id"]))
    finally:
        del status

if made_up:
    gained, flight_id = max(made_up)
    flight = get_flight(flight_id=flight_id)
    print(f"{flight['airline']}{flight['flight_number']} made up {gained} minutes")
print(unknown, "without both delays")
