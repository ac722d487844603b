# tools: spotify
# kind: list where text is wanted
# expect: wrong-argument-type line 9
me = get_current_users_profile()
liked = get_users_saved_tracks(limit=50)["items"]
energetic = [i["track"]["uri"] for i in liked if i["track"]["popularity"] >= 60]
playlist = create_playlist(user_id=me["id"], name="Popular likes")
if energetic:
    snapshot = add_tracks_to_playlist(playlist_id=playlist["id"], uris=energetic, position=0)
    print(snapshot["snapshot_id"])
else:
    print("no tracks")
