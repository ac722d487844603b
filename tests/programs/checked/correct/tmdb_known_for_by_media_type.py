# tools: tmdb
# expect: none
def label(work):
    match work["media_type"]:
        case "movie":
            return f"{work['title']} ({work['release_date'][:4]})"
        case "tv":
            return f"{work['name']} [{'/'.join(work['origin_country'])}]"
        case _:
            return "?"

popular = GET_person_popular(page=1)["results"]
rows = []
for person in popular[:5]:
    works = person["known_for"]
    series = sum(w["media_type"] == "tv" for w in works)
    title = lambda w: w["name"] if w["media_type"] == "tv" else w["title"]
    rows.append((person["name"], series, sorted(map(title, works)), [label(w) for w in works]))
rows.sort(key=lambda r: (-r[1], r[0]))
for name, series, titles, labels in rows:
    print(name, series, titles[:1], "; ".join(labels), sep=" | ")
