# tools: tmdb
# expect: missing-key line 12
# fault: reviews have id, author, content and url only; there is no author_details (the get always gives the empty default), so no rating is ever collected.
from statistics import mean


def ratings(movie_id):
    page = total = 1
    while page <= total:
        data = GET_movie_movie_id_reviews(movie_id=movie_id, page=page)
        for review in data.get("results", []):
            score = review.get("author_details", {}).get("rating")
            if score is not None:
                yield score
        total = data.get("total_pages", 1)
        page += 1


scores = list(ratings(550))
print(f"Mean of {len(scores)} ratings: {mean(scores):.2f}" if scores else "No review has a rating")
