# tools: tmdb
# expect: tool-reassigned line 4
# fault: the first statement binds the tool's name GET_genre_tv_list to a dict, so the later call in genre_ids_of calls a dict.
GET_genre_tv_list = {g["id"]: g.get("name", "?") for g in GET_genre_tv_list().get("genres", []) if "id" in g}


def genre_ids_of(names):
    lowered = {n.lower() for n in names}
    return [g["id"] for g in GET_genre_tv_list().get("genres", []) if "id" in g and g.get("name", "").lower() in lowered]


chosen = genre_ids_of(["Animation", "Comedy"])
for show in GET_tv_top_rated(page=1).get("results", []):
    if set(chosen) <= set(show.get("genre_ids", [])):
        labels = [GET_genre_tv_list.get(i, str(i)) for i in show.get("genre_ids", [])]
        print(f"{show.get('name', '?')}: {'/'.join(labels)}")
print("done")
