# tools: tmdb
# expect: none
# why: a deque of work items is consumed with popleft in a while loop; items of different shapes are told apart by their length.
from collections import deque

queue = deque(("show", s["id"]) for s in GET_search_tv(query="Chernobyl").get("results", [])[:1] if "id" in s)
longest = (0, None)
while queue:
    kind, *ids = queue.popleft()
    if kind == "show":
        seasons = GET_tv_tv_id(tv_id=ids[0]).get("seasons", [])
        queue.extend(("season", ids[0], s["season_number"]) for s in seasons if s.get("season_number"))
    else:
        tv_id, number = ids
        for episode in GET_tv_tv_id_season_season_number(tv_id=tv_id, season_number=number).get("episodes", []):
            longest = max(longest, (len(episode.get("overview", "")), episode.get("name", "")), key=lambda t: t[0])

size, name = longest
print(f"{name!r} has the longest overview: {size} characters" if name is not None else "No episodes with an overview")
