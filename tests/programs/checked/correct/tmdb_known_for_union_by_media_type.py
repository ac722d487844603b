# tools: tmdb
# expect: none
# why: known_for holds movies (title) and shows (name); media_type is required and tells them apart.
def heading(work: dict) -> str:
    match work["media_type"]:
        case "movie":
            return "film " + work.get("title", "without title")
        case "tv":
            return "series " + work.get("name", "without name") + " from " + "/".join(work.get("origin_country", []))
        case other:
            return f"some {other}"


for person in GET_search_person(query="Tilda Swinton").get("results", [])[:2]:
    works = person.get("known_for", [])
    print(person.get("name", "?"), f"({len(works)})")
    for n, text in enumerate(map(heading, works), 1):
        print(f"  {n}. {text}")
else:
    print("end of list")
