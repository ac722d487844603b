# tools: movies
# kind: pattern
# expect: wrong-argument-type line 5
genre = "Horror"
films = list_films_of_genre(genre_id=genre, year=1980)
print(films["total"])
