# tools: spotify
# expect: none
# why: The optional snapshot_id is passed by ** of a conditional dict and renewed by .get() with the old value, which may be None.
PLAYLIST = "3cEYpjA9oz9GiPac4AsH4n"
uris = []
offset = 0
while True:
    page = get_playlists_tracks(playlist_id=PLAYLIST, limit=100, offset=offset)
    for entry in page["items"]:
        track = entry.get("track") or {}
        if track.get("explicit") is True and "uri" in track:
            uris.append(track["uri"])
    if not page["items"] or (offset := offset + len(page["items"])) >= page["total"]:
        break

snapshot = get_playlist(playlist_id=PLAYLIST, fields="snapshot_id").get("snapshot_id")
distinct = list(dict.fromkeys(uris))
for begin in range(0, len(distinct), 100):
    batch = [{"uri": uri} for uri in distinct[begin : begin + 100]]
    extra = {"snapshot_id": snapshot} if snapshot else {}
    answer = remove_tracks_playlist(playlist_id=PLAYLIST, tracks=batch, **extra)
    snapshot = answer.get("snapshot_id", snapshot)
print(f"Removed {len(distinct)} tracks ({snapshot or 'no snapshot'})")
