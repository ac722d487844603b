# tools: movies
# expect: not-an-object line 10
# fault: list_film_genres answers a list of id texts, so genre['name'] indexes a str with a str
from collections import Counter

tally = Counter()
long_films = find_films_by_runtime(year=1957, min_minutes=150, page_size=100)
for film in long_films["films"]:
    for genre in list_film_genres(film_id=film["film_id"]):
        tally[genre["name"]] += 1

print(f"{long_films['total']} films of 1957 last 150 minutes or more")
for name, number in tally.most_common():
    print(f"  {name}: {number}")
