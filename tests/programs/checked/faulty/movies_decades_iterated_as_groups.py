# tools: movies
# kind: iterating a dict gives its keys
# expect: not-a-list line 12
from collections import defaultdict

by_decade = defaultdict(list)
for film in search_films(title="King Kong", limit=20):
    by_decade[film["year"] // 10 * 10].append(film)

lines = []
for films in by_decade:
    newest = max(films, key=lambda f: f["year"])
    score = get_film_score(film_id=newest["film_id"])
    if score["votes"]:
        lines.append(f"{newest['title']} ({newest['year']}): {score['mean_score']} from {score['votes']} votes")

print("\n".join(sorted(lines)) or "none")
