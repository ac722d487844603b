# tools: spotify
# expect: no-attribute line 10
# fault: setdefault puts an empty dict there, and a dict has no method append.
by_owner = {}
offset = 0
while True:
    page = get_a_list_of_current_users_playlists(limit=50, offset=offset)
    for playlist in page["items"]:
        owner = playlist.get("owner", {}).get("display_name") or "unknown"
        by_owner.setdefault(owner, {}).append(playlist.get("name", "untitled"))
    offset += page["limit"]
    if offset >= page["total"] or not page["items"]:
        break

for owner in sorted(by_owner, key=str.casefold):
    print(f"{owner}: {len(by_owner[owner])} playlists")
