# tools: spotify
# expect: none
playlist = get_playlist(playlist_id="x")
for entry in playlist["tracks"]["items"]:
    track = entry["track"]
    if track and "artists" in track:
        print(track["name"], track["artists"][0]["name"], track["album"]["release_date"])
