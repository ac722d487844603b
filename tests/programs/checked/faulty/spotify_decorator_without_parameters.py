# tools: spotify
# expect: positional-argument line 27
# fault: The decorator's inner function takes no arguments, so the decorated describe cannot be called with an album id.
import functools


def cached(func):
    store = {}

    @functools.wraps(func)
    def inner():
        key = func.__name__
        if key not in store:
            store[key] = func()
        return store[key]

    return inner


@cached
def describe(album_id="4aawyAB9vmqN3uQ7FjRGTy"):
    album = get_an_album(id=album_id)
    return f"{album['name']} ({album['release_date'][:4]}, {album['total_tracks']} tracks)"


for album_id in ("4aawyAB9vmqN3uQ7FjRGTy", "2noRn2Aes5aoNVsU6iWThc"):
    print(describe(album_id))
