# tools: places
# kind: dict merge
# expect: missing-key line 7
city = get_city(city_id="ci_a2b3c")
country = get_country(country_id=city["country_id"])
both = {**city, **country}
print(both["iso2"], both["continent"])
