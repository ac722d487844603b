# tools: spotify
# expect: missing-argument line 13
# fault: save_tracks_user requires body, and only ids is given.
recent = get_recently_played(limit=50).get("items", [])
ids: list[str] = []
for entry in recent:
    track = entry.get("track", {})
    track_id = track.get("id")
    if track_id and track_id not in ids:
        ids.append(track_id)

if ids:
    save_tracks_user(ids=",".join(ids))
    print(f"Saved {len(ids)} tracks to the library.")
else:
    print("Nothing was played lately.")
