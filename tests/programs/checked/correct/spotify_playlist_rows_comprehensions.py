# tools: spotify
# expect: none
from collections import Counter
from operator import attrgetter, itemgetter
from types import SimpleNamespace

me = get_current_users_profile()["id"]
playlists = [
    SimpleNamespace(id=p["id"], name=p["name"], size=p["tracks"]["total"])
    for p in get_a_list_of_current_users_playlists(limit=50)["items"]
    if p["owner"]["id"] == me or p["collaborative"]
]
playlists.sort(key=attrgetter("size"), reverse=True)
albums, where = Counter(), {}
for playlist in playlists[:5]:
    full = get_playlist(playlist_id=playlist.id)
    tracks = [i["track"] for i in full["tracks"]["items"] if i["track"]["type"] == "track"]
    for album, title in map(itemgetter("album", "name"), tracks):
        albums[album["name"]] += 1
        where.setdefault(album["name"], {}).setdefault(playlist.name, []).append(title)
for name, n in albums.most_common(3):
    spread = {pl: len(titles) for pl, titles in where[name].items()}
    print(f"{name} x{n}:", ", ".join(f"{pl} ({k})" for pl, k in spread.items()))
print(sum(p.size for p in playlists), "tracks in", len(playlists), "playlists")
