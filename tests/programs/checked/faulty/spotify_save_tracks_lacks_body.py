# tools: spotify
# expect: missing-argument line 10
# fault: save_tracks_user requires the argument body; only ids is given.
album = get_an_album(id="4aawyAB9vmqN3uQ7FjRGTy", market="ES")
tracks = album.get("tracks", {}).get("items", [])
short = [t for t in tracks if t.get("duration_ms", 0) < 180_000]
ids = [t["id"] for t in short if "id" in t][:50]

if ids:
    save_tracks_user(ids=",".join(ids))
    print(f"Saved {len(ids)} short tracks of {album['name']}")
else:
    print("No short tracks on", album["name"])
