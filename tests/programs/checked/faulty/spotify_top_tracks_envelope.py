# tools: spotify
# kind: list read as envelope
# expect: not-an-object line 13
def by_popularity(track):
    return track["popularity"]

found = search(q="Nina Simone", type=["artist"])["artists"]["items"]
artist = found[0]
related = get_an_artists_related_artists(id=artist["id"])
songs = []
for other in related[:5]:
    top = get_an_artists_top_tracks(id=other["id"], market="US")
    songs.extend(top["tracks"][:2])
songs.sort(key=by_popularity, reverse=True)
print([s["name"] for s in songs])
