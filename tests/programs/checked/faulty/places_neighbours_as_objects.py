# tools: places
# kind: list of ids used as list of objects
# expect: not-an-object line 12
# expect: none-value line 15
def country_by_name(name):
    return get_country(country_id=search_countries(query=name, limit=1)[0]["country_id"])


austria = country_by_name("Austria")
shared, other = [], []
for neighbour in list_neighbours(country_id=austria["country_id"]):
    country = get_country(country_id=neighbour["country_id"])
    (shared if country["currency_id"] == austria["currency_id"] else other).append(country["name"])

currency = get_currency(currency_id=austria["currency_id"])
print(f"Also paying in {currency['name']}: {', '.join(shared)}")
print(f"Not: {', '.join(other)}")
