# tools: spotify
# expect: none
# why: An own class with __len__, __iter__ and __getitem__ is measured, iterated, indexed and tested with `in`; inside it the page object is used by its keys.
class Playlists:
    def __init__(self, size=50):
        self._size = size
        self._loaded = []
        self._total = None

    def _load(self):
        page = get_a_list_of_current_users_playlists(limit=self._size, offset=len(self._loaded))
        self._total = page["total"] if page["items"] else len(self._loaded)
        self._loaded += page["items"]

    def __iter__(self):
        index = 0
        while index < len(self):
            if index >= len(self._loaded):
                self._load()
                continue
            yield self._loaded[index]
            index += 1

    def __len__(self):
        if self._total is None:
            self._load()
        return self._total

    def __getitem__(self, index):
        return list(self)[index]

    def __contains__(self, name):
        return any(p.get("name") == name for p in self)


mine = Playlists()
print(len(mine), "playlists;", "has Chill" if "Chill" in mine else "no Chill")
if mine:
    print("last:", mine[-1].get("name", "untitled"))
    print(max((p.get("tracks", {}).get("total", 0) for p in mine), default=0), "tracks at most")
