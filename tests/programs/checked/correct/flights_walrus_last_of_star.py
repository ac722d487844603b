# tools: flights
# expect: none
# why: null delays are dropped by a walrus in the condition and used before it in the text; a sentinel pair with None is put in front so that the starred unpacking never lacks a last element
minutes = sorted(
    (late, row["flight_id"])
    for row in list_departure_delays(origin="EWR", date="2013-06-13", page_size=200)["flights"]
    if (late := row["departure_delay_minutes"]) is not None
)
*_, (worst, flight_id) = [(0, None), *minutes]
if flight_id is None:
    print("Nothing left Newark")
else:
    flight = get_flight(flight_id=flight_id)
    print(f"{flight['airline']} {flight['flight_number']} to {flight['destination']}: {worst:+d} min")
