# tools: spotify
# expect: none
# why: The keys of the response are made from the types by f"{kind}s", and every page may be absent.
from itertools import islice, zip_longest

kinds = ["show", "episode", "audiobook"]
found = search(q="space history", type=kinds, market="US", limit=5)
columns = []
for kind in kinds:
    page = found.get(f"{kind}s")
    columns.append([entry["name"] for entry in page["items"]] if page else [])

print(" | ".join(f"{kind + 's':<24}" for kind in kinds))
for row in islice(zip_longest(*columns, fillvalue=""), 3):
    print(" | ".join(f"{cell[:24]:<24}" for cell in row))
if not any(columns):
    print("Nothing was found.")
