# tools: movies
# expect: wrong-operand line 17
# fault: written_at is text, and the format code %d %B %Y on a str is a ValueError
def newest(board_id):
    data = list_entry_reviews(board_id=board_id, page_size=50)
    if data["pages"] > 1:
        data = list_entry_reviews(board_id=board_id, page=data["pages"], page_size=50)
    return get_review(review_id=data["reviews"][-1]["review_id"]) if data["reviews"] else None


for film in search_films(title="Blade Runner", limit=2):
    board_id = get_film_links(film_id=film["film_id"])["board_id"]
    review = newest(board_id) if board_id else None
    if review is None:
        print(f"{film['title']}: not reviewed")
        continue
    print(f"{film['title']}: {review['stars']:.1f} stars on {review['written_at']:%d %B %Y}")
