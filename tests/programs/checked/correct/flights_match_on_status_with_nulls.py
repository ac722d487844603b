# tools: flights
# expect: none
# why: match statement with literal, None and capture patterns over nullable values; arithmetic only where the pattern int() holds
def verdict(status: dict) -> str:
    match status:
        case {"status": "cancelled"}:
            return "never left"
        case {"status": "diverted", "actual_departure": str(left)}:
            return f"left {left}, diverted"
        case {"status": "landed", "arrival_delay_minutes": int(late)} if late <= 0:
            return f"early by {-late}"
        case {"arrival_delay_minutes": None, **rest}:
            return f"unclear ({rest['status']})"
        case {"arrival_delay_minutes": late}:
            return f"late by {late // 60}:{late % 60:02}"
        case _:
            return "?"

for flight in find_flights(airline="B6", flight_number=725, date="2013-01-01"):
    print(flight["origin"], flight["destination"], verdict(get_flight_status(flight_id=flight["flight_id"])))
