# tools: flights
# kind: text sought in a list of objects
# expect: never-equal line 8
destinations = list_destinations(origin="LGA")
nearby = list_nearby_airports(airport="ORD", radius_km=150)
reachable = []
for code in destinations:
    if code in nearby:
        reachable.append(code)
print(", ".join(reachable) or "no airport near Chicago")
