# tools: movies
# kind: literal outside of the enum in a helper
# expect: bad-literal line 9
def queue_for_weekend(title, year):
    """Put the best match on the watchlist."""
    matches = search_films(title=title, from_year=year, to_year=year)
    if not matches:
        return None
    return add_to_watchlist(film_id=matches[0]["film_id"], priority="urgent")


added = []
for title, year in [("Alien", 1979), ("Blade Runner", 1982)]:
    item = queue_for_weekend(title, year)
    if item is not None:
        added.append(item["item_id"])
print(f"{len(added)} films added")
