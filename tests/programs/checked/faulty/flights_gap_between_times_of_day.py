# tools: flights
# expect: wrong-operand line 17
# fault: clock() gives datetime.time objects, and subtracting one time from another is a TypeError
from datetime import datetime


def clock(text):
    return datetime.strptime(text, "%H:%M").time()


for leg in find_flights(airline="UA", flight_number=1545, date="2013-01-01"):
    plan = get_flight(flight_id=leg["flight_id"])
    left = get_flight_status(flight_id=leg["flight_id"])["actual_departure"]
    if left is None:
        print(f"{leg['flight_id']}: cancelled")
        continue
    gap = clock(left) - clock(plan["scheduled_departure"])
    print(f"{leg['flight_id']} to {plan['destination']}: {gap}")
