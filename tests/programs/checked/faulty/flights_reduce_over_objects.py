# tools: flights
# expect: wrong-operand line 12
# fault: reduce has no initial value, so acc is first a flight object and acc + int is dict + int (or the result stays a dict)
from functools import reduce


def miles(flight_id):
    return get_flight(flight_id=flight_id)["distance_miles"]


legs = list_flight_dates(airline="HA", flight_number=51, start_date="2013-03-01", end_date="2013-03-31")["flights"]
total = reduce(lambda acc, leg: acc + miles(leg["flight_id"]), legs) if legs else 0
print(f"{len(legs)} flights, {total:,} miles in March")
