# tools: movies
# expect: none
number, count, longest = 0, 0, ("", 0)
while (page := find_films_by_runtime(year=1962, min_minutes=180, page=(number := number + 1), page_size=25))["films"]:
    for film in page["films"]:
        count += 1
        if film["runtime_minutes"] > longest[1]:
            longest = film["film_id"], film["runtime_minutes"]
    if number >= page["pages"]:
        break
film_id, minutes = longest
print(f"{count} long films; longest: {get_film(film_id=film_id)['title']!r}, {minutes // 60}h{minutes % 60:02d}")
