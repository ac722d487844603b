# tools: tmdb
# expect: wrong-argument-type line 9
# fault: the ids are joined into a text and split again, so mid is a str, while movie_id of GET_movie_movie_id_credits is an integer.
popular = GET_movie_popular(region="US").get("results", [])
wanted = ",".join(str(m["id"]) for m in popular if "id" in m and m.get("vote_average", 0) > 7)

directors = set()
for mid in filter(None, wanted.split(",")):
    credits = GET_movie_movie_id_credits(movie_id=mid)
    for member in credits.get("crew", []):
        if member.get("job") == "Director" and "name" in member:
            directors.add(member["name"])

print(f"{len(directors)} directors:", *sorted(directors), sep="\n")
