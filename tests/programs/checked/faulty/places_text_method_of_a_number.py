# tools: places
# kind: methods of str, list and dict
# expect: no-attribute line 5
city = get_city(city_id="ci_a2b3c")
print(city["name"].upper(), city["population"].replace(",", ""))
