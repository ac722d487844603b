# tools: movies
# expect: none
STARS = {"low": 2, "normal": 3, "high": 5}
rated = {rating["film_id"] for rating in list_own_ratings()}
for item in list_film_watchlist():
    if item["film_id"] in rated:
        continue
    rating = rate_film(film_id=item["film_id"], stars=STARS[item["priority"]])
    print(rating["rating_id"], rating["stars"])
