# tools: flights
# expect: none
# why: left is None for cancelled flights, and the tests sit in conditional expressions; datetime arithmetic and date format codes inside f-strings that hold f-strings
from datetime import datetime, timedelta


def moment(day, clock):
    return datetime.fromisoformat(f"{day}T{clock}")


def story(flight_id):
    flight, status = get_flight(flight_id=flight_id), get_flight_status(flight_id=flight_id)
    planned = moment(flight["date"], flight["scheduled_departure"])
    late = status["departure_delay_minutes"]
    left = planned + timedelta(minutes=late) if late is not None else None
    next_day = left is not None and left.date() > planned.date()
    return f"{left:%d %b %H:%M}{' (+1)' if next_day else ''}" if left else f"cancelled, was due at {planned:%H:%M}"


stories = {leg["flight_id"]: story(leg["flight_id"]) for leg in find_flights(airline="B6", flight_number=97, date="2013-07-10")}
print(*([f"{key}: {text}" for key, text in stories.items()] or ["no such flight"]), sep="\n")
