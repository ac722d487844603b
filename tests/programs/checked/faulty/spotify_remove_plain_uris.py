# tools: spotify
# kind: list of texts where objects are wanted
# expect: wrong-argument-type line 8
mine = get_a_list_of_current_users_playlists(limit=50)["items"]
target = next(p for p in mine if p["name"] == "Workout")
entries = get_playlists_tracks(playlist_id=target["id"])["items"]
explicit = [e["track"]["uri"] for e in entries if e["track"]["explicit"]]
result = remove_tracks_playlist(playlist_id=target["id"], tracks=explicit, snapshot_id=target["snapshot_id"])
print(len(explicit), "removed,", result["snapshot_id"])
