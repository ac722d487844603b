# tools: movies
# expect: none
# why: stars are numbers in halves, but round() without digits gives an integer and the bounds keep it within 1 to 5
from statistics import mean


def clamp(value, low=1, high=5):
    return max(low, min(high, round(value)))


rated, skipped = [], 0
for item in list_film_watchlist():
    board = get_film_links(film_id=item["film_id"])["board_id"]
    reviews = list_entry_reviews(board_id=board, page_size=10)["reviews"] if board is not None else ()
    stars = [get_review(review_id=r["review_id"])["stars"] for r in reviews]
    if not stars:
        skipped += 1
        continue
    rated.append(rate_film(film_id=item["film_id"], stars=clamp(mean(stars))))
print({r["film_id"]: "*" * r["stars"] for r in rated}, f"{skipped} skipped")
