# tools: spotify
# expect: none
tracks = get_an_artists_top_tracks(id="x", market="US")
for t in sorted(tracks, key=lambda t: t["popularity"], reverse=True)[:3]:
    print(t["name"], t["album"]["name"], t["duration_ms"] / 60000)
