# tools: tmdb
# expect: none
from itertools import groupby, count
from operator import itemgetter

def every_review(movie_id):
    for page in count(1):
        answer = GET_movie_movie_id_reviews(movie_id=movie_id, page=page)
        yield from answer["results"]
        if page >= min(answer["total_pages"], 3):
            break

reviews = sorted(every_review(550), key=itemgetter("author"))
table = [(who, len(own := list(rows)), max(len(r["content"]) for r in own)) for who, rows in groupby(reviews, key=itemgetter("author"))]
for who, n, longest in sorted(table, key=itemgetter(1, 2), reverse=True)[:5]:
    print(f"{who:20.20} {n:>3} {longest:>6}")
languages = {GET_review_review_id(review_id=r["id"])["iso_639_1"] for r in reviews[:3]}
print(languages)
