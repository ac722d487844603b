# tools: places
# kind: while with paging
# expect: missing-key line 8
names, page, pages = [], 1, 1
while page <= pages:
    answer = list_country_cities(country_id="co_a2b3c", page=page)
    pages = answer["pages"]
    names.extend(city["city_name"] for city in answer["cities"])
    page += 1
print(sorted(names))
