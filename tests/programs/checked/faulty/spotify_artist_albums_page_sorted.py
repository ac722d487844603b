# tools: spotify
# expect: not-a-list line 5
# fault: get_an_artists_albums returns a page object whose list is under "items"; sorting the object gives its keys, and a text cannot be indexed with "release_date".
def newest_first(rows):
    return sorted(rows, key=lambda row: row["release_date"], reverse=True)


found = search(q="Radiohead", type=["artist"], limit=1)
artists = found["artists"]["items"] if "artists" in found else []
artist_id = artists[0].get("id") if artists else None
if artist_id is None:
    print("Artist not found")
else:
    albums = get_an_artists_albums(id=artist_id, include_groups="album", limit=50)
    for album in newest_first(albums)[:5]:
        print(f"{album['release_date']}: {album['name']}")
