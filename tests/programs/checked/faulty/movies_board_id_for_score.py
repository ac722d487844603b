# tools: movies
# kind: id of the wrong kind passed on
# expect: wrong-argument-type line 15
tags = {t["name"]: t["tag_id"] for t in list_tags()}
entries = []
page = pages = 1
while page <= pages:
    chunk = list_entries_with_tag(tag_id=tags["Film-Noir"], year=1950, page=page)
    pages = chunk["pages"]
    entries.extend(chunk["entries"])
    page += 1


def public_score(entry):
    score = get_film_score(film_id=entry["board_id"])
    return score["mean_score"] or 0


ranked = sorted(entries[:12], key=public_score, reverse=True)
for place, entry in enumerate(ranked[:3], start=1):
    film_id = get_board_entry(board_id=entry["board_id"])["film_id"]
    print(place, get_film(film_id=film_id)["title"])
