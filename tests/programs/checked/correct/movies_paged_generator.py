# tools: movies
# expect: none
from itertools import count, islice
from operator import itemgetter


def paged(call, field, **kwargs):
    for page in count(1):
        result = call(page=page, **kwargs)
        yield from result[field]
        if page >= result["pages"]:
            return


genres = dict(map(itemgetter("name", "genre_id"), list_genres()))
key = next(k for k in genres if k.casefold().startswith("anim"))
films = islice(paged(list_films_of_genre, "films", genre_id=genres[key], year=1937, page_size=20), 25)

best = None
for film_id in map(itemgetter("film_id"), films):
    score = get_film_score(film_id=film_id)
    if score["votes"] and score["mean_score"] and (best is None or score["votes"] > best["votes"]):
        best = {**score, "title": get_film(film_id=film_id)["title"]}

if best:
    print("{title}: {mean_score:.1f} ({votes} votes)".format(**best))
else:
    print("no scores")
