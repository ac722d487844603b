# tools: places
# expect: none
# why: iata and municipality may be null; filter(None, ...) and `or` take care of them before join and format.
from collections import defaultdict

countries = search_countries(query="Iceland", limit=1)
towns = defaultdict(set)
codes = []
if countries:
    first, *others = [list_country_airfields(country_id=countries[0]["country_id"], codes="iata")]
    for number in range(2, first["pages"] + 1):
        others.append(
            list_country_airfields(country_id=countries[0]["country_id"], codes="iata", page=number)
        )
    for page in (first, *others):
        for entry in page["airfields"]:
            field = get_airfield(airfield_id=entry["airfield_id"])
            codes.append(field["iata"])
            towns[field["municipality"] or "unknown town"].add(field["name"])

print("codes:", ", ".join(sorted(filter(None, codes))) or "none")
for town, fields in towns.items():
    if len(fields) > 1:
        print(f"{town}: {' and '.join(sorted(fields))}")
