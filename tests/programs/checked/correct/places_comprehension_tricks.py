# tools: places
# expect: none
countries = [get_country(country_id=i) for i in list_neighbours(country_id="co_a2b3c")]
areas = {c["iso3"]: a for c in countries if (a := c["area_km2"])}
first, *others, last = sorted(areas, key=areas.__getitem__, reverse=True) if len(areas) > 1 else ("", "")
matrix = [[(a, b) for b in areas if b != a] for a in areas]
flat = [pair for line in matrix for pair in line]
codes = [*{c["iso2"] for c in countries}, *(c["calling_code"] or "" for c in countries)]
print(first, last, len(others), len(flat), codes[:1], sum(areas.values()) / len(areas) if areas else 0)
print(not any(c["currency_id"] is None for c in countries), all("-" in (c["calling_code"] or "-") for c in countries))
