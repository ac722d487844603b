# tools: tmdb
# kind: number formatted to text before the call
# expect: wrong-argument-type line 12
seen = set()
queue = [str(m["id"]) for m in GET_movie_top_rated(page=1)["results"][:2]]
titles = []
while queue and len(titles) < 10:
    current = queue.pop(0)
    if current in seen:
        continue
    seen.add(current)
    similar = GET_movie_movie_id_similar(movie_id=current)["results"]
    titles.extend(m["title"] for m in similar)
    queue += [str(m["id"]) for m in similar[:2]]
print(titles)
