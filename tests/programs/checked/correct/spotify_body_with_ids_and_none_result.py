# tools: spotify
# expect: none
# why: body is a nested dict with a list of ids; follow_artists_users gives None, which is only asserted
followed, cursor = set(), None
for _ in range(20):
    batch = get_followed(type="artist", limit=50, **({"after": cursor} if cursor else {}))
    followed |= {a["id"] for a in batch.get("items", []) if "id" in a}
    cursor = (batch.get("cursors") or {}).get("after")
    if not cursor:
        break

related = get_an_artists_related_artists(id="0TnOYISbd1XYRBk9myaseg")
fresh = {a["id"]: a.get("name", a["id"]) for a in related if "id" in a and a["id"] not in followed}
first_five = dict(list(fresh.items())[:5])
if first_five:
    outcome = follow_artists_users(type="artist", ids=",".join(first_five), body={"ids": list(first_five)})
    assert outcome is None
print("Followed:", *first_five.values(), sep="\n  ")
