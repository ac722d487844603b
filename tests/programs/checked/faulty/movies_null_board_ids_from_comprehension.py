# tools: movies
# expect: none-value line 14
# fault: board_id may be null, and the null values in entries go untested to get_board_entry.
wanted = ["Alien", "Arrival", "Moon"]
hits = {}
for title in wanted:
    for film in search_films(title=title, limit=1):
        hits[film["title"]] = film["film_id"]

entries = {title: get_film_links(film_id=fid)["board_id"] for title, fid in hits.items()}
tag_names = {tag["tag_id"]: tag["name"] for tag in list_tags()}

for title, board_id in entries.items():
    tags = get_board_entry(board_id=board_id)["tag_ids"]
    print(title, "->", ", ".join(sorted(tag_names.get(t, "?") for t in tags)) or "no tags")
