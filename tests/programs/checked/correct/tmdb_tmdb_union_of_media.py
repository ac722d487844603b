# tools: tmdb
# expect: none
for entry in GET_search_person(query="Nolan")["results"][0]["known_for"]:
    print(entry["title"] if entry["media_type"] == "movie" else entry["name"])
    print(entry.get("title") or entry.get("name"))
