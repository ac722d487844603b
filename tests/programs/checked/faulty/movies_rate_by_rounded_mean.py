# tools: movies
# expect: wrong-argument-type line 15
# fault: rate_film takes whole stars (integer), but round(verdict, 1) of a float mean is a float such as 3.7
from statistics import fmean

hits = search_films(title="Heat", from_year=1995, to_year=1995, limit=1)
if not hits:
    print("No such film")
else:
    film = hits[0]
    board_id = get_film_links(film_id=film["film_id"])["board_id"]
    reviews = [] if board_id is None else list_entry_reviews(board_id=board_id, page_size=20)["reviews"]
    stars = [get_review(review_id=r["review_id"])["stars"] for r in reviews]
    verdict = fmean(stars) if stars else 3
    mine = rate_film(film_id=film["film_id"], stars=round(verdict, 1))
    print(f"{film['title']} rated {mine['stars']}")
