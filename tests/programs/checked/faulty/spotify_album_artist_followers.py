# tools: spotify
# kind: key of the full artist wanted from the short one
# expect: missing-key line 11
offset = 0
fans = {}
while True:
    page = get_users_saved_tracks(limit=50, offset=offset)
    for entry in page["items"]:
        album = entry["track"]["album"]
        lead, *rest = album["artists"]
        fans[lead["name"]] = lead["followers"]["total"]
    offset += len(page["items"])
    if not page["items"] or offset >= page["total"]:
        break
print(max(fans.items(), key=lambda kv: kv[1]))
