# tools: movies
# expect: none-value line 6
# says: sorted() fails on None
def mean(film):
    score = get_film_score(film_id=film["film_id"])
    return score["mean_score"]


for film in sorted(search_films(title="Hamlet"), key=mean):
    print(film["title"])
