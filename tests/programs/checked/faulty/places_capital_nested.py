# tools: places
# kind: object expected where an id key stands
# expect: missing-key line 19
continents = {c["name"]: c["continent_id"] for c in list_continents()}
countries = []
page = 1
while True:
    part = list_continent_countries(continent_id=continents["South America"], page=page)
    countries.extend(part["countries"])
    if page >= part["pages"]:
        break
    page += 1

shares = {}
for item in countries:
    country = get_country(country_id=item["country_id"])
    if not country["population"]:
        continue
    capital = country["capital"]
    shares[country["name"]] = capital["population"] / country["population"]

top = sorted(shares, key=shares.get, reverse=True)[:3]
print({name: f"{shares[name]:.1%}" for name in top})
