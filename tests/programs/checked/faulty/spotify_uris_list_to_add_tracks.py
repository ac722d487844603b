# tools: spotify
# expect: wrong-argument-type line 20
# fault: add_tracks_to_playlist takes uris as one comma-separated text; here it gets the list that collect returns.
def collect(artist_id, limit):
    uris = []
    for track in get_an_artists_top_tracks(id=artist_id, market="US"):
        uri = track.get("uri")
        if uri and uri not in uris:
            uris.append(uri)
    return uris[:limit]

me = get_current_users_profile()
user_id = me.get("id")
if user_id is None:
    print("No user id.")
else:
    playlist = create_playlist(user_id=user_id, name="Top five", public=False)
    picks = collect("0TnOYISbd1XYRBk9myaseg", 5)
    if picks and "id" in playlist:
        add_tracks_to_playlist(playlist_id=playlist["id"], uris=picks)
    print(f"{playlist.get('name', 'playlist')} with {len(picks)} tracks")
