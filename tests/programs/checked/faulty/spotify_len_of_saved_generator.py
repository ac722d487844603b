# tools: spotify
# expect: not-a-list line 18
# fault: saved_albums is a generator function; its result has no len().
def saved_albums(batch=50):
    start = 0
    while True:
        page = get_users_saved_albums(limit=batch, offset=start)
        for item in page["items"]:
            album = item.get("album")
            if album:
                yield album["name"], album["total_tracks"]
        start += batch
        if start >= page["total"]:
            return

library = saved_albums()
tracks = sum(count for _, count in library)
print(f"{tracks} tracks on {len(library)} saved albums")
