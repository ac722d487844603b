# tools: spotify
# expect: none
# why: groupby's groups are made into lists before they are measured, and heapq.nlargest gets its number first and the pairs with a key.
import heapq
from itertools import groupby


def month(entry):
    return entry.get("added_at", "")[:7] or "unknown"


entries, offset, total = [], 0, 1
while offset < total:
    page = get_users_saved_albums(limit=50, offset=offset)
    entries.extend(page["items"])
    total = page["total"]
    offset += 50

grouped = [(m, list(g)) for m, g in groupby(sorted(entries, key=month), key=month)]
for m, group in heapq.nlargest(3, grouped, key=lambda pair: len(pair[1])):
    names = [e["album"]["name"] for e in group if "album" in e]
    print(f"{m}: {len(group)} albums, such as {names[0] if names else '-'}")
if not grouped:
    print("No saved albums.")
