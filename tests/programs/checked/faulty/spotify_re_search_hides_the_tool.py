# tools: spotify
# expect: tool-reassigned line 4
# fault: from re import search rebinds the name of the tool search, so search(q=..., type=...) calls re.search, which knows no such arguments.
from re import IGNORECASE, search

def is_live(title):
    return bool(search(r"\blive\b", title, IGNORECASE))

answer = search(q="artist:Portishead", type=["track"], limit=20)
titles = [t["name"] for t in answer.get("tracks", {}).get("items", []) if "name" in t]
live = list(filter(is_live, titles))
print(f"{len(live)} of {len(titles)} are live:", live)
