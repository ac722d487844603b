# tools: places
# expect: none
rows = []
for found in search_countries(query="Ne", limit=20):
    country = get_country(country_id=found["country_id"])
    people, area = country["population"], country["area_km2"]
    if not people or not area:
        continue
    rows.append({"name": country["name"], "density": people / area, **{"iso": country["iso2"]}})
rows.sort(key=lambda row: row["density"], reverse=True)
for row in rows[:5]:
    print("{iso} {name:<20} {density:8.1f}".format(**row))
