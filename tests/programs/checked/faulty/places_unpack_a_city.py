# tools: places
# kind: unpacking
# expect: not-a-list line 4
latitude, longitude = get_city(city_id="ci_a2b3c")
print(latitude, longitude)
