# tools: spotify
# expect: wrong-argument-type line 13
# fault: next is the URL of the next page (text), but offset takes an integer.
names = []
page = get_a_list_of_current_users_playlists(limit=50)
while True:
    for playlist in page["items"]:
        owner = playlist.get("owner", {})
        names.append((playlist.get("name", "untitled"), owner.get("display_name", "?")))
    following = page["next"]
    if not following:
        break
    page = get_a_list_of_current_users_playlists(limit=50, offset=following)

names.sort(key=lambda pair: pair[0].lower())
for name, owner in names:
    print(name, "by", owner)
