# tools: movies
# expect: none
# why: a closure with nonlocal state answers None at the end, and iter(function, None) stops there, so no None reaches the inner loop; Counter.total
from collections import Counter


def reader(reviewer_id):
    page, pages = 0, 1

    def step():
        nonlocal page, pages
        if page >= pages:
            return None
        page += 1
        data = list_reviewer_reviews(reviewer_id=reviewer_id, page=page, page_size=100)
        pages = data["pages"]
        return data["reviews"]

    return step


who = find_reviewer(member_number=77)
boards = Counter(r["board_id"] for batch in iter(reader(who), None) for r in batch)
print(f"{boards.total()} reviews of {len(boards)} entries")
for board_id, number in boards.most_common(2):
    film_id = get_board_entry(board_id=board_id)["film_id"]
    print(get_film(film_id=film_id)["title"], number)
