# tools: movies
# kind: name before assignment
# expect: undefined-name line 5
titles = [film["title"] for film in list_films_of_year(year=1999)["films"]]
print(titles[0], film["film_id"])
