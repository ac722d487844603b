# tools: spotify
# expect: none
# why: playlist tracks may be tracks or episodes or absent; isinstance and type tests tell them apart before use
from operator import itemgetter

playlists = get_a_list_of_current_users_playlists(limit=20)["items"]
mine = [(p["id"], p.get("name", "?")) for p in playlists if isinstance(p.get("id"), str)]

stats = []
for playlist_id, name in mine:
    spoken = sung = 0
    for row in get_playlists_tracks(playlist_id=playlist_id, limit=50)["items"]:
        content = row.get("track")
        if not isinstance(content, dict):
            continue
        if content.get("type") == "episode":
            spoken += content["duration_ms"]
        else:
            sung += content.get("duration_ms", 0)
    stats.append({"name": name, "minutes": (spoken + sung) // 60_000, "spoken": bool(spoken)})

for name, minutes in map(itemgetter("name", "minutes"), sorted(stats, key=itemgetter("minutes", "name"))):
    print(f"{minutes:5d} {name}")
print(any(map(itemgetter("spoken"), stats)))
