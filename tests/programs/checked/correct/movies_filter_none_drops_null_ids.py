# tools: movies
# expect: none
# why: filter(None, ...) removes the null board ids before they are passed on
from itertools import islice

def boards(title):
    links = (get_film_links(film_id=f["film_id"]) for f in search_films(title=title))
    yield from filter(None, (link["board_id"] for link in links))

tag_name = {t["tag_id"]: t["name"] for t in list_tags()}.get
shared = None
for board_id in islice(boards("king kong"), 3):
    tags = frozenset(get_board_entry(board_id=board_id)["tag_ids"])
    shared = tags if shared is None else shared & tags

match shared:
    case None:
        print("not on the board")
    case frozenset() if not shared:
        print("nothing in common")
    case _:
        print(", ".join(sorted(tag_name(t, t) for t in shared)))
