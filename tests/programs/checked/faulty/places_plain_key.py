# tools: places
# kind: assignment
# expect: missing-key line 6
city = get_city(city_id="ci_a2b3c")
place = city
print(place["name"], place["country"])
