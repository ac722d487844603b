# tools: movies
# expect: none-value line 5
# fault: board_id of get_film_links may be null and goes untested through reviews_since into list_entry_reviews, which takes only text
def reviews_since(board_id, date):
    return list_entry_reviews(board_id=board_id, from_date=date, page_size=1)["total"]


counts = {}
for title in ("Alien", "Aliens", "Alien Resurrection"):
    for film in search_films(title=title, limit=3):
        links = get_film_links(film_id=film["film_id"])
        counts[f"{film['title']} ({film['year']})"] = reviews_since(links["board_id"], "2002-01-01")

for label in sorted(counts, key=counts.get, reverse=True):
    print(label, counts[label])
