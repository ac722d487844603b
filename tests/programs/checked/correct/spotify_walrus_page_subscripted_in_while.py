# tools: spotify
# expect: none
# why: The page is bound by a walrus and subscripted in the condition of the loop; next is text whose truth is tested.
titles: list[str] = []
offset = 0
while (page := get_users_saved_tracks(limit=50, offset=offset))["items"]:
    titles += [
        name
        for entry in page["items"]
        if (name := entry.get("track", {}).get("name"))
    ]
    if not page["next"]:
        break
    offset += len(page["items"])

initials = {title[0].upper() for title in titles}
print(f"{len(titles)} of {page['total']} titles, {len(initials)} different initials")
print("".join(sorted(initials)))
