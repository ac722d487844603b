# tools: spotify
# expect: none
# why: the sections of a search are optional and read by a loop over names made from the types with an s
TYPES = ["album", "playlist", "show"]
result = search(q="rainy day", type=TYPES, limit=5, market="US")

rows = []
for kind in TYPES:
    section = result.get(kind + "s")
    if section is None:
        continue
    for thing in section["items"]:
        if thing:
            rows.append((kind, thing.get("name") or "(untitled)"))

longest = max((len(name) for _, name in rows), default=0)
for kind, name in rows:
    print(name.ljust(longest, "."), kind.upper())
print({kind: sum(k == kind for k, _ in rows) for kind in TYPES})
