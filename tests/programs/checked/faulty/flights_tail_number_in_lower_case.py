# tools: flights
# kind: pattern
# expect: bad-literal line 4
plane = get_plane(tail_number="n14228")
print(plane["seats"])
