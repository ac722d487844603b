# tools: tmdb
# expect: missing-key line 5
# fault: the results of GET_search_movie are movies, which have release_date and no first_air_date, so every sort key is the empty default.
def when(item: dict) -> str:
    return item.get("first_air_date", "")


films = []
for page in (1, 2):
    films += GET_search_movie(query="Godzilla", page=page).get("results", [])

oldest_first = sorted(films, key=when)
for film in oldest_first[:10]:
    print(film.get("title", "?"), "-", film.get("original_language", "?"))
if not films:
    print("No films found")
