# tools: places
# expect: none-value line 13
# fault: capital_city_id may be null, and get_city takes only text as city_id; it is passed on untested.
def country_named(name):
    matches = search_countries(query=name, limit=1)
    return matches[0]["country_id"] if matches else None


home = country_named("France")
largest, inhabitants = None, -1
for neighbour in list_neighbours(country_id=home) if home else []:
    record = get_country(country_id=neighbour)
    capital = get_city(city_id=record["capital_city_id"])
    if capital["population"] > inhabitants:
        largest, inhabitants = f"{capital['name']} ({record['iso2']})", capital["population"]
print(largest or "no neighbours", inhabitants if largest else "")
