# tools: movies
# expect: none
from functools import cmp_to_key
from operator import attrgetter, itemgetter, methodcaller

films = search_films(title="Star Wars", limit=20)
films.sort(key=itemgetter("year", "title"))
newest = sorted(films, key=cmp_to_key(lambda a, b: b["year"] - a["year"]))
shouted = list(map(methodcaller("upper"), (f["title"] for f in films)))
print(newest[0]["title"] if newest else None, shouted[:2], [*reversed(films)][:1])
pairs = sorted({(f["year"], f["title"]) for f in films}, reverse=True)
for year, title in pairs[:3]:
    print(year, title)
