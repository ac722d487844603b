# tools: spotify
# expect: not-a-list line 21
# fault: explicit_tracks is a generator function; its result has no len().
from collections.abc import Iterator


def explicit_tracks(playlist_id: str) -> Iterator[str]:
    offset, size = 0, 100
    while True:
        page = get_playlists_tracks(playlist_id=playlist_id, limit=size, offset=offset)
        for entry in page["items"]:
            track = entry.get("track")
            if track and track.get("explicit"):
                yield track.get("name", "untitled")
        offset += size
        if offset >= page["total"]:
            break


names = explicit_tracks("37i9dQZF1DX0XUsuxWHRQd")
share = f"{len(names)} explicit tracks"
print(share)
print(*sorted(names), sep="\n")
