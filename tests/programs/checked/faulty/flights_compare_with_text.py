# tools: flights
# kind: comparisons
# expect: wrong-operand line 5
near = list_nearby_airports(airport="BOS", radius_km=100)
print([a["code"] for a in near if a["distance_km"] < "50"])
