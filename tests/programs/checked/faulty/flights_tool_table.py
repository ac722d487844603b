# tools: flights
# kind: functions given tools
# expect: missing-key line 5
READERS = {"plane": get_plane, "airport": get_airport}
print(READERS["plane"](tail_number="N14228")["maker"])
