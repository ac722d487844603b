# tools: flights
# expect: none
shared = set(list_destinations(origin="EWR")) & set(list_destinations(origin="JFK")) - {"BOS"}
print(len(shared), sorted(shared)[:5], *[code.lower() for code in shared])
