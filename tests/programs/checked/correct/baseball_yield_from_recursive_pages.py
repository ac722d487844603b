# tools: baseball
# expect: none
# why: a recursive generator reads the pages; its results are counted with sum and not with len, and next has a default.
def alumni(school_id, page=1):
    data = list_school_players(school_id=school_id, page=page, page_size=100)
    yield from (p["player_id"] for p in data["players"])
    if data["page"] < data["pages"]:
        yield from alumni(school_id, page + 1)


def schools(text):
    return iter(search_schools(query=text))


school = next(schools("Texas"), None)
if school is None:
    print("No school")
else:
    place = get_school(school_id=school["school_id"])
    print(f"{place['name']} ({place['city']}, {place['state']}): {sum(1 for _ in alumni(school['school_id']))} players")
    first, *others = [*alumni(school["school_id"])] or ["nobody"]
    print("First id:", first, "and", len(others), "more")
