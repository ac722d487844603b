# tools: flights
# kind: try/except/else
# expect: no-attribute line 7
try:
    print(get_plane(tail_number="N14228")["seats"])
except ToolError as error:
    print(error.code)
