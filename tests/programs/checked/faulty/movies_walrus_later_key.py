# tools: movies
# kind: walrus
# expect: missing-key line 6
page = 0
while (answer := list_films_of_year(year=1994, page=(page := page + 1)))["films"]:
    print([film["name"] for film in answer["films"]])
    if page == answer["pages"]:
        break
