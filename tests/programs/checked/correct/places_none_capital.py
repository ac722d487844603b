# tools: places
# expect: none
continent = {c["name"]: c["continent_id"] for c in list_continents()}["Antarctica"]
page = list_continent_countries(continent_id=continent, page_size=10)
lines = []
for entry in page["countries"]:
    details = get_country(country_id=entry["country_id"])
    capital = details["capital_city_id"]
    city = get_city(city_id=capital) if capital is not None else None
    currency = (cid := details["currency_id"]) and get_currency(currency_id=cid)["code"]
    lines.append(" | ".join([entry["name"], city["name"] if city else "-", currency or "-"]))
print(*lines, sep="\n")
