# tools: movies
# expect: wrong-argument-type line 15
# fault: the mean of review stars is a float such as 3.75, but rate_film takes an integer.
films = search_films(title="Blade Runner", from_year=1982, to_year=1982)
board_id = get_film_links(film_id=films[0]["film_id"])["board_id"] if films else None

if board_id is None:
    print("No reviews to go by.")
else:
    reviews = list_entry_reviews(board_id=board_id, page_size=20)["reviews"]
    stars = [get_review(review_id=r["review_id"])["stars"] for r in reviews]
    if stars:
        average = sum(stars) / len(stars)
        bounded = min(5, max(1, average))
        rating = rate_film(film_id=films[0]["film_id"], stars=bounded)
        print("Rated", rating["stars"])
    else:
        print("No reviews yet.")
