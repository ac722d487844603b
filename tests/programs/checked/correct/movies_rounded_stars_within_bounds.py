# tools: movies
# expect: none
# why: stars of reviews are floats, but int(mean + 0.5) between 1 and 5 is an integer as rate_film wants
def clamp(value, low=1, high=5):
    return low if value < low else high if value > high else value

rated = {r["film_id"] for r in list_own_ratings()}
for film in search_films(title="Solaris", limit=3):
    board_id = get_film_links(film_id=film["film_id"])["board_id"]
    if film["film_id"] in rated or board_id is None:
        continue
    page = list_entry_reviews(board_id=board_id, page_size=10)
    stars = [get_review(review_id=r["review_id"])["stars"] for r in page["reviews"]]
    if not stars:
        continue
    given = rate_film(film_id=film["film_id"], stars=clamp(int(sum(stars) / len(stars) + 0.5)))
    print(film["title"], "*" * given["stars"])
else:
    print("done")
