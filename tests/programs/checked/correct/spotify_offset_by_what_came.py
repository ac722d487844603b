# tools: spotify
# expect: none
# why: the loop stops on a falsy next or an empty page; offset is the sum of lengths, an integer
saved, seen = [], 0
page = get_users_saved_tracks(limit=50)
while page["items"]:
    saved.extend(page["items"])
    seen += len(page["items"])
    if not page["next"] or seen >= page["total"]:
        break
    page = get_users_saved_tracks(limit=50, offset=seen)

by_year = {}
for entry in saved:
    if (when := entry.get("added_at")) and "track" in entry:
        by_year.setdefault(int(when[:4]), []).append(entry["track"].get("name", "?"))
else:
    print(seen, "saved tracks")
for year in sorted(by_year, reverse=True):
    print(year, len(by_year[year]), min(by_year[year], key=str.casefold))
