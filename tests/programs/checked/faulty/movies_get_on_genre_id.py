# tools: movies
# kind: dict method on a text in a comprehension
# expect: no-attribute line 8
films = search_films(title="Fargo", limit=3)
for film in films:
    labels = []
    for genre in list_film_genres(film_id=film["film_id"]):
        labels.append(genre.get("name", "?"))
    print(film["title"], "-", ", ".join(sorted(labels)))
