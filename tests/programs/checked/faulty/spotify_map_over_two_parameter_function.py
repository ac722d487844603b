# tools: spotify
# expect: missing-argument line 10
# fault: clock has two required parameters, but map over one iterable calls it with one: TypeError.
def clock(ms, separator):
    minutes, rest = divmod(ms, 60_000)
    return f"{minutes}{separator}{rest // 1000:02d}"

tracks = get_an_artists_top_tracks(id="3WrFJ7ztbogyGnTHbHJFl2", market="GB")
complete = [t for t in tracks if {"name", "duration_ms"} <= t.keys()]
labels = list(map(clock, (t["duration_ms"] for t in complete)))
for track, label in zip(complete, labels):
    print(f"{label}  {track['name']}")
