# tools: spotify
# expect: no-attribute line 14
# fault: most_common gives pairs (genre, count), and a tuple has no method title.
from collections import Counter

genres = Counter()
page = get_users_top_artists_and_tracks(type="artists", time_range="long_term", limit=50)
for artist in page["items"]:
    genres.update(artist.get("genres", []))

ranking = genres.most_common(5)
print("Your genres:")
for place, genre in enumerate(ranking, 1):
    print(f"{place}. {genre.title()}")
if not ranking:
    print("none known")
