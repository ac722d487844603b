# tools: places
# expect: none
measures = {
    "population": lambda c: c["population"] or 0,
    "area": lambda c: c["area_km2"] or 0,
    "density": lambda c: (c["population"] or 0) / (c["area_km2"] or 1),
}
names = ("Norway", "Denmark", "Sweden")
countries = [get_country(country_id=search_countries(query=n, limit=1)[0]["country_id"]) for n in names]
winners = {what: max(countries, key=how)["name"] for what, how in measures.items()}
by_winner = {}
for what, name in winners.items():
    by_winner[name] = by_winner.get(name, ()) + (what,)
print(by_winner)
