# tools: places
# expect: none
rows = [("code", "name", "km2")]
for found in search_countries(query="Gua"):
    country = get_country(country_id=found["country_id"])
    rows.append((country["iso2"], country["name"], f"{country['area_km2']:,}" if country["area_km2"] else "-"))
widths = [max(len(row[i]) for row in rows) for i in range(3)]
for row in rows:
    print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
head, *body = rows
print(dict(zip(head, body[0])) if body else {}, len(list(zip(*rows))))
