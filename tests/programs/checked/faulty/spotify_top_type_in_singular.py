# tools: spotify
# expect: wrong-argument-type line 6
# fault: get_users_top_artists_and_tracks takes 'artists' or 'tracks' as type; the loop passes 'artist' and 'track'.
favourites = {}
for kind in ("artist", "track"):
    page = get_users_top_artists_and_tracks(type=kind, time_range="short_term", limit=5)
    favourites[kind] = [entry.get("name", "?") for entry in page["items"]]

width = max(map(len, favourites), default=0)
for kind, names in favourites.items():
    print(f"{kind:>{width}}: {'; '.join(names) or 'none'}")
