# tools: spotify
# expect: missing-key line 10
# fault: A track has no key release_date; that is a key of its album.
from operator import itemgetter

ARTIST = "4Z8W4fKeB5YxbusRsdQVPb"
related = get_an_artists_related_artists(id=ARTIST)
ids = [ARTIST, *(a["id"] for a in related[:3] if "id" in a)]
pool = [track for artist_id in ids for track in get_an_artists_top_tracks(id=artist_id, market="GB")]
pool.sort(key=itemgetter("release_date"))
oldest, newest = (pool[0], pool[-1]) if pool else ({}, {})
print("oldest:", oldest.get("name", "-"))
print("newest:", newest.get("name", "-"))
