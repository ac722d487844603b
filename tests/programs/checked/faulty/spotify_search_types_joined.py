# tools: spotify
# expect: wrong-argument-type line 6
# fault: search takes type as a list of item types, and here it is one text "artist,album".
wanted = ("artist", "album")
kinds = ",".join(wanted)
found = search(q="Bonobo", type=kinds, limit=5)
lines = []
for kind in wanted:
    page = found.get(f"{kind}s")
    if page is None:
        continue
    for entry in page["items"]:
        lines.append(f"{kind}: {entry.get('name', '(no name)')}")
print("\n".join(lines) or "Nothing found")
