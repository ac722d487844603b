# tools: flights
# expect: never-equal line 5
# says: diverted
states = [get_flight_status(flight_id=fid)["status"] for fid in ("abcde", "fghij")]
if "diversed" in states:
    print("one went elsewhere")
print(len(states))
