# tools: places
# expect: none
# why: capital_city_id may be null; the comprehension keeps only what the walrus found not to be None before get_city takes it.
found = search_countries(query="Austria", limit=1)
home = found[0]["country_id"] if found else None
ids = [home, *list_neighbours(country_id=home)] if home else []
capitals = {
    country["name"]: get_city(city_id=capital_id)
    for country in map(lambda i: get_country(country_id=i), ids)
    if (capital_id := country["capital_city_id"]) is not None
}
for name, city in sorted(capitals.items(), key=lambda kv: kv[1]["population"], reverse=True):
    print(f"{name:<16}{city['name']:<16}{city['population']:>12,}")
north = max(capitals.values(), key=lambda c: c["latitude"], default=None)
print("northernmost:", north["name"] if north else "none")
