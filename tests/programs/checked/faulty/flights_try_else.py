# tools: flights
# kind: try/except/else
# expect: missing-key line 9
try:
    plane = get_plane(tail_number="N14228")
except ToolError:
    print("not registered")
else:
    print(plane["model"], plane["year"])
