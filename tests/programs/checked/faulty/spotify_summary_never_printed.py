# tools: spotify
# expect: no-output line 14
# fault: summary is built but never printed, so the program answers nothing.
from collections import Counter

top = get_users_top_artists_and_tracks(type="artists", time_range="long_term", limit=50)
genres = Counter()
for artist in top["items"]:
    genres.update(artist.get("genres", []))

lines = []
for rank, (genre, count) in enumerate(genres.most_common(5), start=1):
    lines.append(f"{rank}. {genre} ({count})")
summary = "\n".join(lines) if lines else "No genres known."
