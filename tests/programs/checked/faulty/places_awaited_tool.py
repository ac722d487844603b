# tools: places
# kind: async gather
# expect: not-awaitable line 4
city = await get_city(city_id="ci_a2b3c")
print(city["name"])
