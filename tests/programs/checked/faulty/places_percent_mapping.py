# tools: places
# kind: formatting with %
# expect: missing-key line 5
city = get_city(city_id="ci_a2b3c")
print("%(name)s has %(inhabitants)d inhabitants" % city)
