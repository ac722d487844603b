# tools: places
# kind: conditional expressions
# expect: missing-key line 5
city = get_city(city_id="ci_a2b3c")
print(city["state"] if city["state_id"] else "abroad")
