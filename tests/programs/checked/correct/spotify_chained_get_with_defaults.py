# tools: spotify
# expect: none
# why: every optional level is read by get with a default of the right type; a chain of four
playing = get_the_users_currently_playing_track(market="DE") or {}
item = playing.get("item") or {}
album = item.get("album") or {}
cover = next(iter(album.get("images") or []), {})
artists = [a.get("name", "?") for a in item.get("artists") or ()]

if not item:
    print("Nothing is playing.")
else:
    print(item.get("name", "untitled"), "-", ", ".join(artists) or "no artist given")
    print("Cover:", cover.get("url", "none"), f'{cover.get("width", 0)}x{cover.get("height", 0)}')
    done = playing.get("progress_ms") or 0
    total = item.get("duration_ms") or 0
    print(f"{done / total:.0%}" if total else "length unknown")
