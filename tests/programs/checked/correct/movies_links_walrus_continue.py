# tools: movies
# expect: none
# why: the nullable board_id is tested by 'if not (board := ...)' with continue; a pair with a starred rest is unpacked from a list that cannot be empty
decades = {}
for film in search_films(title="dracula", limit=50):
    links = get_film_links(film_id=film["film_id"])
    if not (board := links["board_id"]):
        continue
    total = list_entry_reviews(board_id=board, page_size=1)["total"]
    decades.setdefault(film["year"] // 10 * 10, []).append((total, film["title"]))

for decade, rows in sorted(decades.items()):
    (most, title), *others = sorted(rows, reverse=True)
    print(f"{decade}s: {title} with {most} reviews, and {len(others)} more films")
if not decades:
    print("None is on the board")
