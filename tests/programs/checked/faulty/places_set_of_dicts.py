# tools: places
# kind: dicts put into a set
# expect: unhashable line 10
seen = set()
zones = {}
for query in ("Springfield", "Portland", "Columbus"):
    for city in search_cities(query=query, limit=6):
        if city["name"] != query:
            continue
        seen.add(city)
        details = get_city(city_id=city["city_id"])
        zone = get_time_zone(time_zone_id=details["time_zone_id"])["name"]
        zones.setdefault(zone, []).append(f"{details['name']} ({details['population']:,})")

print(len(seen), "cities")
for zone in sorted(zones):
    print(zone + ":", "; ".join(zones[zone]))
