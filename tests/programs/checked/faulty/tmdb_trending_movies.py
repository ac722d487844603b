# tools: tmdb
# kind: plural for an enum value
# expect: bad-literal line 5
windows = ["day", "week"]
totals = {w: GET_trending_media_type_time_window(media_type="movies", time_window=w)["total_results"] for w in windows}
print(totals)
