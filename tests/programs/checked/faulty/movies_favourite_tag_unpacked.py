# tools: movies
# expect: missing-key line 17
# expect: wrong-unpacking line 16
# fault: most_common(1) gives a list of one pair, which cannot be unpacked into two names
from collections import Counter

names = {t["tag_id"]: t["name"] for t in list_tags()}
me = find_reviewer(member_number=1208)
counts = Counter()
for review in list_reviewer_reviews(reviewer_id=me, page_size=100)["reviews"]:
    counts.update(get_board_entry(board_id=review["board_id"])["tag_ids"])

if not counts:
    print("No tags")
else:
    tag_id, times = counts.most_common(1)
    print(f"{names.get(tag_id, tag_id)}: {times} times")
