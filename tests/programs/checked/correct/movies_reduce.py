# tools: movies
# expect: none
from functools import reduce

entries = [get_board_entry(board_id=b) for b in ("be_a2b3c", "be_d4e5f")]
common = reduce(lambda left, right: left & right, (set(e["tag_ids"]) for e in entries))
names = {t["tag_id"]: t["name"] for t in list_tags()}
print(sorted(map(names.__getitem__, common)))
total = reduce(lambda acc, e: acc + len(e["tag_ids"]), entries, 0)
print(total)
