# tools: tmdb
# expect: none
# why: the trending response really has a key that is the empty text; every access is by get with a default.
best = {}
for window in ("day", "week"):
    for kind in ("all", "movie"):
        top = GET_trending_media_type_time_window(media_type=kind, time_window=window).get("", {})
        title = top.get("title") or top.get("original_title")
        if title:
            best.setdefault(title, set()).add(f"{kind}/{window}")

for title, where in sorted(best.items(), key=lambda kv: (-len(kv[1]), kv[0])):
    print(title, *sorted(where), sep=" | ")
if not best:
    print("No trend is known")
