# tools: tmdb
# expect: missing-key line 7
# fault: the response of the trending tool has page, "" (an object), total_pages and total_results, but no key "results"; the get always gives the empty default.
lines = []
for kind in ("movie", "tv"):
    trend = GET_trending_media_type_time_window(media_type=kind, time_window="week")
    for rank, item in enumerate(trend.get("results", [])[:5], start=1):
        lines.append(f"{kind} {rank}: {item.get('title', 'untitled')} ({item.get('vote_average', 0)})")

print("\n".join(lines) if lines else "Nothing is trending")
