# tools: places
# expect: none
# why: breadth-first search in a dict of distances whose values may be tested against None; the ids in the deque are plain texts
from collections import deque


def steps(start, goal, limit=12):
    seen = {start: 0}
    queue = deque((start,))
    while queue:
        here = queue.popleft()
        if here == goal:
            return seen[here]
        if seen[here] == limit:
            continue
        for nxt in list_neighbours(country_id=here):
            if nxt not in seen:
                seen[nxt] = seen[here] + 1
                queue.append(nxt)


def country(words):
    found = search_countries(query=words, limit=1)
    return found[0]["country_id"] if found else None


a, b = map(country, ("Portugal", "Vietnam"))
answer = steps(a, b) if a and b else None
print("no way by land" if answer is None else f"{answer} borders")
