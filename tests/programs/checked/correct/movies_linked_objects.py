# tools: movies
# expect: none
class Node:
    def __init__(self, film, after=None):
        self.film = film
        self.after = after

    def __repr__(self):
        return f"Node({self.film['title']!r})"

    def walk(self):
        node = self
        while node is not None:
            yield node.film
            node = node.after


head = None
for found in search_films(title="Superman"):
    head = Node(get_film(film_id=found["film_id"]), head)
if head is not None:
    print(head, [film["year"] for film in head.walk()], head.after)
