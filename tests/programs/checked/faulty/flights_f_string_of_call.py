# tools: flights
# kind: f-strings
# expect: missing-key line 4
print(f"The route is {get_route(origin='JFK', destination='LAX')['miles']} miles long.")
