# tools: spotify
# kind: slice of text compared with a number
# expect: never-equal line 9
artist = search(q="Taylor Swift", type=["artist"], limit=1)["artists"]["items"][0]
albums = get_an_artists_albums(id=artist["id"], include_groups="album", limit=50)
total = 0
for album in albums["items"]:
    year = album["release_date"][:4]
    if year == 2020:
        total += album["total_tracks"]
print("Tracks released in 2020:", total)
