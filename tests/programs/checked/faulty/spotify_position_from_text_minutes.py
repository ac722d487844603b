# tools: spotify
# expect: wrong-argument-type line 14
# fault: minutes and seconds are text, so minutes * 60 + seconds is text too, and position_ms (that text times 1000) is no integer.
START_AT = "1:30"

minutes, seconds = START_AT.split(":")
offset_ms = (minutes * 60 + seconds) * 1000

found = search(q="artist:Muse album:Absolution", type=["album"], limit=1)
albums = found.get("albums", {"items": []})["items"]
if not albums:
    print("Album not found")
else:
    start_a_users_playback(context_uri=albums[0]["uri"], position_ms=offset_ms)
    print("Playing", albums[0]["name"], "from", START_AT)
