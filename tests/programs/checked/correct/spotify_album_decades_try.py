# tools: spotify
# expect: none
from statistics import mean, StatisticsError

def released(album):
    parts = album["release_date"].split("-")
    parts += ["01"] * (3 - len(parts))
    return tuple(parts)

albums = [s["album"] for s in get_users_saved_albums(limit=50)["items"]]
albums.sort(key=released)
groups = {}
for album in albums:
    try:
        decade = int(album["release_date"][:4]) // 10 * 10
    except ValueError:
        decade = None
    groups.setdefault(decade, []).append(album)
for decade, own in groups.items():
    lengths = [t["duration_ms"] / 60_000 for a in own for t in a["tracks"]["items"]]
    try:
        average = f"{mean(lengths):.1f} min"
    except StatisticsError:
        average = "unknown"
    print(decade or "?", len(own), average, own[0]["artists"][0]["name"] if own[0]["artists"] else "")
