# tools: spotify
# expect: none
from collections import defaultdict
from datetime import datetime

def pages(tool, limit=50, **rest):
    offset = 0
    while (page := tool(limit=limit, offset=offset, **rest))["items"]:
        yield from page["items"]
        offset += limit
        if offset >= page["total"]:
            return

by_year = defaultdict(set)
for saved in pages(get_users_saved_tracks, market="US"):
    added = datetime.fromisoformat(saved["added_at"].replace("Z", "+00:00"))
    track = saved["track"]
    by_year[added.year].update(a["name"] for a in track["artists"])
years = sorted(by_year)
fresh = {y: by_year[y].difference(*(by_year[p] for p in years[:i])) for i, y in enumerate(years)}
for year, names in fresh.items():
    print(year, len(names), sorted(names)[:3])
