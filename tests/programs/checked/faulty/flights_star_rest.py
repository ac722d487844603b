# tools: flights
# kind: star assignment
# expect: missing-key line 5
first, *rest = list_airlines()
print(first["code"], rest[0]["iata"])
