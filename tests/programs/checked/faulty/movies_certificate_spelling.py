# tools: movies
# kind: enum code misspelt in comparison
# expect: never-equal line 18
from collections import Counter

titles = ["Titanic", "Gladiator", "Spider-Man", "Training Day"]
codes = {}
for title in titles:
    matches = search_films(title=title, from_year=1996, limit=3)
    if not matches:
        continue
    film = get_film(film_id=matches[0]["film_id"])
    if film["certificate_id"] is None:
        continue
    codes[film["title"]] = get_certificate(certificate_id=film["certificate_id"])["code"]

tally = Counter(codes.values())
teen = [title for title, code in codes.items() if code == "PG13"]
print(f"{len(teen)} of {sum(tally.values())} films are for teens: {', '.join(sorted(teen))}")
