# tools: places
# kind: None tests
# expect: none-value line 6
# expect: none-value line 6
country = get_country(country_id="co_a2b3c")
print(round(country["population"] / country["area_km2"], 1))
