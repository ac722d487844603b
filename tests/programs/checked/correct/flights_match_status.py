# tools: flights
# expect: none
def summary(flight_id: str) -> str:
    match get_flight_status(flight_id=flight_id):
        case {"status": "cancelled"}:
            return "cancelled"
        case {"status": "diverted", "actual_departure": str(left)}:
            return f"diverted after {left}"
        case {"arrival_delay_minutes": int(late)} if late > 0:
            return f"{late} minutes late"
        case {"arrival_delay_minutes": None}:
            return "unknown"
        case _:
            return "on time"


for number in range(1, 4):
    for flight in find_flights(airline="AA", flight_number=number, date="2013-03-03"):
        print(number, summary(flight["flight_id"]))
