# tools: places
# expect: none
from functools import lru_cache


@lru_cache(maxsize=None)
def country(country_id):
    return get_country(country_id=country_id)


def within(start, steps, seen=None):
    seen = {start} if seen is None else seen
    if steps > 0:
        for other in list_neighbours(country_id=start):
            if other not in seen:
                seen.add(other)
                within(other, steps - 1, seen)
    return seen


portugal = search_countries(query="PT")[0]["country_id"]
found = within(portugal, 2)
print(sorted(country(c)["iso2"] for c in found - {portugal}))
