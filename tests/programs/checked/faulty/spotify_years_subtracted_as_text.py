# tools: spotify
# expect: wrong-operand line 11
# fault: the first four letters of release_date are text; the difference of newest and oldest is taken of text, which raises TypeError.
def release_years(artist_id, group):
    page = get_an_artists_albums(id=artist_id, include_groups=group, limit=50)
    return {album["name"]: album["release_date"][:4] for album in page["items"]}

years = release_years("0TnOYISbd1XYRBk9myaseg", "album")
if years:
    oldest, *_, newest = sorted([*years.values(), max(years.values())])
    career = newest - oldest
    print(f"{len(years)} albums over {career} years")
else:
    print("No albums")
