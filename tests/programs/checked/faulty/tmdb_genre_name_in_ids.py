# tools: tmdb
# kind: text looked up among numbers
# expect: never-equal line 10
wanted = "Comedy"
page = 1
picked = []
while page <= 3:
    batch = GET_movie_now_playing(page=page, region="US")
    for movie in batch["results"]:
        if wanted in movie["genre_ids"] and movie["vote_average"] > 6:
            picked.append((movie["vote_average"], movie["title"]))
    if page >= batch["total_pages"]:
        break
    page += 1
picked.sort(reverse=True)
print(picked[:10])
