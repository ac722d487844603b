# tools: spotify
# expect: not-a-list line 13
# fault: The groups of itertools.groupby are iterators, and an iterator has no len().
from itertools import groupby

releases = get_new_releases(country="SE", limit=50)["items"]


def year(album):
    return album["release_date"][:4]


per_year = {y: len(group) for y, group in groupby(sorted(releases, key=year), key=year)}
for y, amount in sorted(per_year.items(), reverse=True):
    print(f"{y}: {amount} release{'s' if amount != 1 else ''}")
if not per_year:
    print("No releases")
