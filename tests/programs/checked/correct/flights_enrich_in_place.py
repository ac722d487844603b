# tools: flights
# expect: none
flights = list_arrivals(destination="SFO", date="2013-08-05", origin="JFK", airline="VX")["flights"]
for flight in flights:
    flight |= get_flight_status(flight_id=flight["flight_id"])
    flight["plane"] = get_plane(tail_number=flight["tail_number"]) if flight["tail_number"] else None
landed = [f for f in flights if f["status"] == "landed" and f["plane"]]
landed.sort(key=lambda f: f["arrival_delay_minutes"] if f["arrival_delay_minutes"] is not None else 999)
for f in landed:
    print(f["flight_number"], f["actual_arrival"], f["arrival_delay_minutes"], f["plane"]["model"])
