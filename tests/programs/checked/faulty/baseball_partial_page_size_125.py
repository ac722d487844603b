# tools: baseball
# expect: wrong-argument-type line 12
# fault: PER_PAGE is 25 * 5 = 125, while page_size of list_franchise_seasons is at most 100.
from functools import partial

COLUMNS, ROWS = 5, 25
PER_PAGE = COLUMNS * ROWS

hits = search_franchises(query="Cubs")
if hits:
    club, *_ = hits
    fetch = partial(list_franchise_seasons, franchise_id=club["franchise_id"], page_size=PER_PAGE)
    first = fetch()
    rows = list(first["seasons"])
    for number in range(2, first["pages"] + 1):
        rows += fetch(page=number)["seasons"]
    print(f"{club['name']} played {len(rows)} seasons, from {min(r['season'] for r in rows) if rows else '-'}")
else:
    print("Franchise not found")
