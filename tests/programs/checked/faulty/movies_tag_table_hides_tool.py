# tools: movies
# expect: tool-reassigned line 4
# fault: the name list_tags is bound to a dict before tag_names calls list_tags(): a dict is not callable
list_tags = {t["tag_id"]: t["name"] for t in list_tags()}


def tag_names(board_id):
    lookup = {t["tag_id"]: t["name"] for t in list_tags()}
    return sorted(lookup.get(i, i) for i in get_board_entry(board_id=board_id)["tag_ids"])


for film in search_films(title="Psycho", limit=4):
    board_id = get_film_links(film_id=film["film_id"])["board_id"]
    tags = tag_names(board_id) if board_id is not None else []
    print(film["title"], film["year"], ", ".join(tags) or "no tags", sep=" | ")
