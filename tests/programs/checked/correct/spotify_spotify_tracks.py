# tools: spotify
# expect: none
album = get_an_album(id="4aawyAB9vmqN3uQ7FjRGTy")
for track in album["tracks"]["items"]:
    print(track["name"], ", ".join(artist["name"] for artist in track["artists"]))
print(album["images"][0]["url"] if album["images"] else None)
