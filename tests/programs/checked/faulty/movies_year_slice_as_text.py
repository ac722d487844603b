# tools: movies
# kind: slice of a date passed where an integer is wanted
# expect: none-value line 9
# expect: wrong-argument-type line 12
from collections import defaultdict

film = search_films(title="Black Panther", from_year=2015, limit=1)[0]
links = get_film_links(film_id=film["film_id"])
own = get_box_office(box_office_id=links["box_office_id"])

year = own["released_on"][:4]
rivals = list_box_office(year=year)["releases"]

by_month = defaultdict(list)
for release in rivals:
    record = get_box_office(box_office_id=release["box_office_id"])
    by_month[record["released_on"][5:7]].append(record["opening_weekend_usd"])

for month, takings in sorted(by_month.items()):
    print(f"{year}-{month}: {len(takings)} films, best opening ${max(takings):,}")
