# tools: flights
# expect: none
found = None
try:
    plane = get_plane(tail_number="N14228")
except ToolError as error:
    print("failed:", error.status, error.body)
else:
    found = plane["model"]
finally:
    print("looked up")
print(found.lower() if found is not None else "none")
