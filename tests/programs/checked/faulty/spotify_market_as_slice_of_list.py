# tools: spotify
# expect: wrong-argument-type line 11
# fault: markets[:1] is a list of one code, while market takes text.
releases = get_new_releases(country="SE", limit=10)
report = {}
for album in releases["items"]:
    markets = sorted(album["available_markets"])
    if not markets:
        continue
    first = markets[:1]
    songs = get_an_albums_tracks(id=album["id"], market=first, limit=50)
    report[album["name"]] = (songs["total"], sum(1 for s in songs["items"] if s.get("explicit")))

for name, (total, explicit) in report.items():
    print(f"{name}: {explicit} of {total} explicit")
