# tools: spotify
# expect: not-an-object line 6
# fault: get_an_artists_top_tracks returns the list of tracks itself, and a list cannot be indexed with "tracks".
artist = get_an_artist(id="0TnOYISbd1XYRBk9myaseg")
top = get_an_artists_top_tracks(id="0TnOYISbd1XYRBk9myaseg", market="US")
best = sorted(top["tracks"], key=lambda t: t.get("popularity", 0), reverse=True)
print(f"Best of {artist.get('name', 'the artist')}:")
for place, track in enumerate(best[:3], start=1):
    minutes, rest = divmod(track.get("duration_ms", 0) // 1000, 60)
    print(f"{place}. {track.get('name', '?')} ({minutes}:{rest:02d})")
