# tools: places
# kind: f-strings
# expect: missing-key line 6
width = 24
for city in list_country_cities(country_id="co_a2b3c")["cities"]:
    print(f"{city['name']:<{width}}|{city['population']:>{width}}")
