# tools: flights
# expect: never-equal line 4
statuses = [get_flight_status(flight_id=fid)["status"] for fid in ("abcde", "fghij")]
place = statuses.index("canceled")
print(place)
