# tools: spotify
# expect: none
def walk(artist, depth, path=()):
    here = (*path, artist["name"])
    yield here, artist["followers"]["total"]
    if depth:
        for other in sorted(get_an_artists_related_artists(id=artist["id"]), key=lambda a: a["popularity"])[-2:]:
            if other["name"] not in here:
                yield from walk(other, depth - 1, here)

hits = search(q="Miles Davis", type=["artist"], limit=1)["artists"]["items"]
root = get_an_artist(id=hits[0]["id"])
reach = {}
for path, fans in walk(root, 2):
    name = path[-1]
    if name not in reach or len(path) < len(reach[name][0]):
        reach[name] = path, fans
small = [(" > ".join(p), f) for p, f in reach.values() if f < 100_000]
print(len(reach), *(f"{p} [{f}]" for p, f in small), sep="\n")
