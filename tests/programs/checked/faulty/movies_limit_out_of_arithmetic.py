# tools: movies
# expect: wrong-argument-type line 9
# fault: shown is 20 * 4 = 80, but limit of search_films is at most 50
per_screen, screens = 20, 4
shown = per_screen * screens


def candidates(words, how_many=shown):
    found = search_films(title=words, from_year=1980, limit=how_many)
    return [(f["year"], f["title"]) for f in found]


love = candidates("love")
oldest = min(love, default=None)
print(f"{len(love)} films; the oldest is {oldest[1]} of {oldest[0]}" if oldest else "No films")
