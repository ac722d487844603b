# tools: spotify
# kind: singular for an enum value
# expect: bad-literal line 4
top = get_users_top_artists_and_tracks(type="track", time_range="short_term", limit=10)["items"]
for place, entry in enumerate(top, start=1):
    print(f"{place}. {entry['name']}")
