# tools: movies
# kind: classes
# expect: missing-key line 18
class Shelf:
    def __init__(self):
        self.films = {}

    def add(self, film_id):
        self.films[film_id] = get_film(film_id=film_id)
        return self

    def longest(self):
        known = [film for film in self.films.values() if film["runtime_minutes"]]
        return max(known, key=lambda film: film["runtime_minutes"])


shelf = Shelf().add("fm_a2b3c").add("fm_d4e5f")
print(shelf.longest()["name"])
