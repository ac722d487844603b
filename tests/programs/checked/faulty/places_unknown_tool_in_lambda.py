# tools: places
# kind: unknown tool
# expect: unknown-tool line 5
ids = list_neighbours(country_id="co_a2b3c")
names = list(map(lambda i: get_country_info(country_id=i)["name"], ids))
print(names)
