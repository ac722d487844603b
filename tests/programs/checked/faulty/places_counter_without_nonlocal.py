# tools: places
# expect: used-before-assignment line 9
# fault: total is assigned within tally() (total += ...) without nonlocal, so it is a local name read before assignment (UnboundLocalError).
def summarize(country_name):
    total = 0
    names = []

    def tally(city):
        total += city["population"]
        names.append(city["name"])

    lands = search_countries(query=country_name, limit=1)
    if not lands:
        return f"{country_name}: unknown"
    page = list_country_cities(country_id=lands[0]["country_id"], min_population=500_000)
    for entry in page["cities"]:
        tally(get_city(city_id=entry["city_id"]))
    return f"{country_name}: {len(names)} big cities with {total:,} people"


for land in ("Chile", "Kenya"):
    print(summarize(land))
