# tools: spotify
# expect: none
# why: After `DEFAULTS | track` the optional keys are always there, so they are indexed directly and compared.
DEFAULTS = {"name": "untitled", "popularity": 0, "duration_ms": 0, "explicit": False}


def complete(tracks):
    return [DEFAULTS | track for track in tracks]


artist_id = "1dfeR4HaWDbWqFHLkxsg1d"
top = complete(get_an_artists_top_tracks(id=artist_id, market="DE"))
clean = [t for t in top if not t["explicit"]]
clean.sort(key=lambda t: (-t["popularity"], t["name"].casefold()))
for place, t in enumerate(clean[:5], 1):
    seconds = round(t["duration_ms"] / 1000)
    print(f"{place}. {t['name']} - {seconds // 60}:{seconds % 60:02} ({t['popularity']})")
least, *_ = sorted(top, key=lambda t: t["popularity"]) or [DEFAULTS]
print("least popular:", least["name"])
