# tools: places
# expect: none-value line 10
# fault: capital_city_id of get_country may be null (no record of a capital), but it is passed untested to get_city, which takes a string id.
continent = next((c for c in list_continents() if c["name"] == "Oceania"), None)
rows = []
if continent is not None:
    page = list_continent_countries(continent_id=continent["continent_id"], page_size=100)
    for place in page["countries"]:
        land = get_country(country_id=place["country_id"])
        capital = get_city(city_id=land["capital_city_id"])
        rows.append((capital["population"], capital["name"], land["name"]))

for people, capital, land in sorted(rows, reverse=True)[:10]:
    print(f"{land}: {capital} ({people:,})")
