# tools: flights
# expect: missing-key line 5
plane = get_plane(tail_number="N14228")
print(plane["model"])
print(plane["airline"])
