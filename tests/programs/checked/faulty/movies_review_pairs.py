# tools: movies
# kind: object of five keys unpacked to a pair
# expect: none-value line 7
# expect: not-a-list line 10
film_id = search_films(title="Pulp Fiction", limit=1)[0]["film_id"]
board_id = get_film_links(film_id=film_id)["board_id"]
page = list_entry_reviews(board_id=board_id, page_size=10)
full = [get_review(review_id=r["review_id"]) for r in page["reviews"]]
total = 0.0
for reviewer, stars in full:
    total += stars
print(round(total / len(full), 2))
