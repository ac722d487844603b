# tools: places
# expect: none
# why: nullable areas and populations are sorted and divided, but the keys put nulls last and the quotient is guarded by a short circuit.
def density(land):
    return land["area_km2"] and land["population"] and land["population"] / land["area_km2"]


lands = []
for continent in list_continents():
    if continent["name"].startswith("South"):
        page = list_continent_countries(continent_id=continent["continent_id"], page_size=100)
        lands.extend(get_country(country_id=c["country_id"]) for c in page["countries"])

lands.sort(key=lambda c: (c["area_km2"] is None, -(c["area_km2"] or 0), c["name"]))
for land in lands:
    d = density(land)
    area = land["area_km2"] if land["area_km2"] is not None else "?"
    print(f"{land['iso3']} {area:>10} {f'{d:.1f}' if d else '-':>8}")
