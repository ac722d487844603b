# tools: places
# kind: generators
# expect: missing-key line 6
near = (city for city in list_cities_near(latitude=29.9, longitude=-90.1, radius_km=50)["cities"])
for city in near:
    print(city["city_id"], city["name"])
