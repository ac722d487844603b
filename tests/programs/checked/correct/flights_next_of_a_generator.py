# tools: flights
# expect: none
airline = next((a for a in list_airlines() if "Delta" in a["name"]), None)
print(airline["code"] if airline else "none")
first = next(f for f in list_departures(origin="JFK", date="2013-01-01")["flights"] if f["tail_number"])
print(get_plane(tail_number=first["tail_number"])["seats"])
