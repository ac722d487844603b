# tools: movies
# expect: missing-argument line 12
# fault: label needs the argument places too, but map(label, films) calls it with one: TypeError
def label(film, places):
    score = get_film_score(film_id=film["film_id"])["mean_score"]
    shown = "no score" if score is None else round(score, places)
    return f"{film['title']} ({film['year']}): {shown}"


films = search_films(title="Godfather", to_year=1999, limit=5)
print(f"{len(films)} films")
for line in map(label, films):
    print("-", line)
