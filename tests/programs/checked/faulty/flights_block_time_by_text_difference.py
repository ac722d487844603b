# tools: flights
# expect: wrong-operand line 7
# fault: The scheduled times are text HH:MM, and a text cannot be subtracted from a text.
def block_time(flight):
    keys = ("scheduled_departure", "scheduled_arrival")
    departure, arrival = (flight[key] for key in keys)
    return arrival - departure


page = list_departures(origin="LGA", date="2013-07-04", destination="BOS", page_size=100)
flights = [get_flight(flight_id=f["flight_id"]) for f in page["flights"]]
times = [(block_time(f), f["airline"], f["flight_number"]) for f in flights]
times.sort()
if times:
    shortest, airline, number = times[0]
    print(f"Shortest: {airline} {number}, {shortest}")
else:
    print("No flights to Boston that day")
