# tools: places
# kind: functions of the program
# expect: missing-key line 16
best = None


def consider(found):
    global best
    city = get_city(city_id=found["city_id"])
    if best is None or city["population"] > best["population"]:
        best = city


for found in search_cities(query="Santa", limit=20):
    consider(found)
print(best["name"], best["timezone"])
