# tools: flights
# kind: None tests
# expect: missing-key line 5
plane = get_plane(tail_number="N14228") or {}
print(plane.get("seats", 0), plane.get("builder"))
