# tools: spotify
# kind: sorting key the short track lacks
# expect: missing-key line 11
from operator import itemgetter

releases = get_new_releases(country="SE", limit=5)
best = {}
for release in releases["items"]:
    tracks = get_an_albums_tracks(id=release["id"])["items"]
    tracks.sort(key=itemgetter("disc_number", "track_number"))
    best[release["name"]] = max(tracks, key=lambda t: t["popularity"])["name"]
for album, song in best.items():
    print(album, "->", song)
