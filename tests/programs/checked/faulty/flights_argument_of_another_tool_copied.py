# tools: flights
# expect: unknown-argument line 4
# says: page
print(get_plane(tail_number="N14228", page=1)["seats"])
