# tools: movies
# expect: none
# why: a recursive generator yields from itself with page + 1; its result is only iterated
from statistics import median

def lengths(year, page=1):
    result = find_films_by_runtime(year=year, min_minutes=40, page=page, page_size=200)
    for film in result["films"]:
        yield film["runtime_minutes"]
    if page < result["pages"]:
        yield from lengths(year, page=page + 1)

summary = {}
for year in range(1930, 1990, 20):
    if values := [*lengths(year)]:
        summary[year] = median(values), len(values)
for (year, (mid, n)) in summary.items():
    print(f"{year}: {mid:g} minutes over {n} films")
