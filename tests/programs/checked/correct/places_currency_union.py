# tools: places
# expect: none
from collections import defaultdict
from operator import methodcaller

start = search_countries(query="LUX")[0]
frontier, seen = [start["country_id"]], set()
users = defaultdict(list)
for _ in range(2):
    upcoming = []
    for country_id in frontier:
        if country_id in seen:
            continue
        seen.add(country_id)
        country = get_country(country_id=country_id)
        users[country["currency_id"]].append(country["name"])
        upcoming += list_neighbours(country_id=country_id)
    frontier = upcoming

lines = []
for currency_id, names in users.items():
    unit = get_currency(currency_id=currency_id) if currency_id else {"code": "???", "name": "none"}
    lines.append("{code} ({name})".format(**unit) + ": " + ", ".join(sorted(names, key=methodcaller("casefold"))))
print(*lines, sep="\n")
