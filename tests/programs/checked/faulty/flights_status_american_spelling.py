# tools: flights
# expect: never-equal line 7
# fault: status is one of landed, diverted, cancelled; it can never equal 'canceled'.
from functools import partial

def has_status(wanted, flight):
    return get_flight_status(flight_id=flight["flight_id"])["status"] == wanted

is_grounded = partial(has_status, "canceled")

board = list_departures(origin="LGA", date="2013-02-08", from_hour=14, to_hour=15, page_size=200)
grounded = list(filter(is_grounded, board["flights"]))

print(f"{len(grounded)} of {len(board['flights'])} flights never left:")
for flight in grounded:
    print(" -", flight["airline"], flight["flight_number"], "to", flight["destination"])
