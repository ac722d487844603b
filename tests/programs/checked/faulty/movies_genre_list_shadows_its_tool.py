# tools: movies
# expect: tool-reassigned line 4
# fault: the first line binds list_genres to the list itself, so calling it in genre_name raises TypeError: 'list' object is not callable.
list_genres = list_genres()
print("Genres known:", len(list_genres))

def genre_name(genre_id):
    for genre in list_genres():
        if genre["genre_id"] == genre_id:
            return genre["name"]
    return "unknown"

for film in search_films(title="Metropolis", to_year=1930):
    names = [genre_name(g) for g in list_film_genres(film_id=film["film_id"])]
    print(film["title"], film["year"], "/".join(names))
