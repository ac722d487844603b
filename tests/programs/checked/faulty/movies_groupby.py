# tools: movies
# kind: itertools.groupby
# expect: missing-key line 10
from itertools import groupby
from operator import itemgetter

found = sorted(search_films(title="King Kong"), key=itemgetter("year"))
for year, films in groupby(found, key=itemgetter("year")):
    for film in films:
        print(year, film["name"])
