# tools: movies
# expect: not-a-list line 8
# fault: each item is a dict of three keys; unpacking it into two names raises ValueError.
import json

groups = {}
positions = {}
for place, (film_id, priority) in enumerate(list_film_watchlist(), 1):
    groups.setdefault(priority, []).append(film_id)
    positions[film_id] = place

for priority in ("high", "normal", "low"):
    for film_id in groups.get(priority, []):
        film = get_film(film_id=film_id)
        print(json.dumps({"place": positions[film_id], "priority": priority, "title": film["title"]}))
