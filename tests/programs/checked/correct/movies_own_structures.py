# tools: movies
# expect: none
from collections import ChainMap, OrderedDict, defaultdict, deque

queue = deque(search_films(title="Terminator"), maxlen=10)
tree = lambda: defaultdict(tree)
seen = tree()
order = OrderedDict()
while queue:
    film = queue.popleft()
    links = get_film_links(film_id=film["film_id"])
    if links["board_id"]:
        for tag_id in get_board_entry(board_id=links["board_id"])["tag_ids"]:
            seen[film["title"]][tag_id]["count"] = 1
    order[film["title"]] = links
    order.move_to_end(film["title"], last=False)
merged = ChainMap({"a": 1}, dict(order))
print(len(merged), {title: sorted(tags) for title, tags in seen.items()})
