# tools: spotify
# expect: unknown-tool line 11
# fault: there is no tool get_artist_albums; the tool is get_an_artists_albums.
result = search(q="Sigur Rós", type=["artist"], limit=1)
matches = result["artists"]["items"] if "artists" in result else []

singles = []
for artist in matches:
    if "id" not in artist:
        continue
    page = get_artist_albums(id=artist["id"], include_groups="single", limit=50)
    singles += [(a["release_date"], a["name"]) for a in page["items"]]

print("\n".join(f"{when} {name}" for when, name in sorted(singles)) or "no singles")
