# tools: flights
# expect: none
# why: match with class patterns in dict patterns, an or-pattern with None, text that is bound in every case, and an else on the for loop
for leg in find_flights(airline="UA", flight_number=1545, date="2013-01-01"):
    match get_flight_status(flight_id=leg["flight_id"]):
        case {"status": "cancelled"}:
            text = "never left"
        case {"status": "diverted", "actual_departure": str(left)}:
            text = f"left at {left}, landed elsewhere"
        case {"arrival_delay_minutes": int(late)} if late > 15:
            text = f"{late // 60}h{late % 60:02d} late"
        case {"arrival_delay_minutes": (int() | None) as late}:
            text = "arrival unknown" if late is None else f"in time ({late:+d})"
        case other:
            text = f"unclear: {other!r}"
    print(f"{leg['origin']}-{leg['destination']}: {text}")
else:
    print("end of list")
