# tools: flights
# kind: unpacking
# expect: not-a-list line 4
for field, value in get_plane(tail_number="N14228"):
    print(field, value)
