# tools: places
# expect: wrong-argument-type line 5
found = search_cities(query="Miami", limit=1)
for city in found:
    print(get_city(city_id=f"city_{city['city_id']}")["name"])
