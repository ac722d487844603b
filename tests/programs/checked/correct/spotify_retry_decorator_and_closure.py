# tools: spotify
# expect: none
# why: a decorator passes *args and **kwargs on to a tool; a closure counts with nonlocal
import functools

def counter():
    calls = 0
    def bump():
        nonlocal calls
        calls += 1
        return calls
    return bump

tick = counter()

def counted(tool):
    @functools.wraps(tool)
    def inner(*args, **kwargs):
        tick()
        return tool(*args, **kwargs)
    return inner

album_of = counted(get_an_album)
labels = {}
for entry in get_users_saved_albums(limit=10)["items"]:
    if "album" not in entry:
        continue
    album = album_of(id=entry["album"]["id"])
    labels[album["name"]] = album.get("label", "unknown").strip()
print(tick() - 1 == len(labels), labels)
