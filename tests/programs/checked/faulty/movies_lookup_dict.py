# tools: movies
# kind: dict lookups
# expect: missing-key line 6
tags = {tag["tag_id"]: tag for tag in list_tags()}
entry = get_board_entry(board_id="be_a2b3c")
print([tags[tag_id]["label"] for tag_id in entry["tag_ids"]])
