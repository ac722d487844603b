# tools: movies
# expect: none
def verdict(review):
    match review:
        case {"stars": s} if s >= 4:
            return "good"
        case {"stars": 0.5 | 1 | 1.5}:
            return "bad"
        case _:
            return "middling"


film, *_ = search_films(title="The Matrix", from_year=1999, to_year=1999)
board = get_film_links(film_id=film["film_id"])["board_id"]
tally = dict.fromkeys(("good", "middling", "bad"), 0)
if board is not None:
    for ref in list_entry_reviews(board_id=board, page_size=15)["reviews"]:
        tally[verdict(get_review(review_id=ref["review_id"]))] += 1
print(" ".join("%s=%d" % item for item in tally.items()))
