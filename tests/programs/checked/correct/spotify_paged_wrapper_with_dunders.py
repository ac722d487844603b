# tools: spotify
# expect: none
# why: an own class has __iter__, __len__ and __getitem__, so that len(), [] and for are used on an object
class Paged:
    def __init__(self, fetch, **fixed):
        self._fetch, self._fixed, self._items = fetch, fixed, None

    def _load(self):
        if self._items is None:
            page = self._fetch(limit=50, **self._fixed)
            self._items = list(page["items"])
        return self._items

    def __iter__(self):
        return iter(self._load())

    def __len__(self):
        return len(self._load())

    def __getitem__(self, key):
        return self._load()[key]

tracks = Paged(get_an_albums_tracks, id="2up3OPMp9Tb4dAKM2erWXQ", market="FR")
if len(tracks) > 1:
    first, last = tracks[0], tracks[-1]
    print(first.get("name"), "...", last.get("name"))
print(sum(1 for t in tracks if t.get("explicit", False)), "explicit of", len(tracks))
