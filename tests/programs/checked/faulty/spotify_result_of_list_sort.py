# tools: spotify
# expect: none-value line 9
# fault: list.sort() sorts in place and returns None, so longest is None and cannot be sliced.
tracks = get_an_albums_tracks(id="6dVIqQ8qmQ5GBnJ9shOYGE", limit=50)["items"]
timed = [t for t in tracks if "duration_ms" in t]
longest = timed.sort(key=lambda t: t["duration_ms"], reverse=True)
total = sum(t["duration_ms"] for t in timed)
print(f"{len(timed)} tracks, {total / 60000:.1f} minutes in all")
for track in longest[:3]:
    print(f"- {track.get('name', '?')}: {track['duration_ms'] / 60000:.2f} min")
