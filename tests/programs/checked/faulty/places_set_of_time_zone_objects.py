# tools: places
# expect: unhashable line 10
# fault: list_country_time_zones gives dicts, which are unhashable and cannot be members of a set.
zones: set = set()
for query in ("Mexico", "Guatemala", "Belize"):
    hit = next(iter(search_countries(query=query, limit=1)), None)
    if hit is None:
        print("Unknown country:", query)
        continue
    zones |= set(list_country_time_zones(country_id=hit["country_id"]))

print(len(zones), "time zones:")
for name in sorted(z["name"] for z in zones):
    print(" ", name.split("/")[-1].replace("_", " "))
