# tools: movies
# expect: none
from dataclasses import dataclass, field, asdict


@dataclass(order=True)
class Entry:
    rank: tuple = field(init=False, repr=False)
    title: str
    year: int
    votes: int = 0

    def __post_init__(self):
        self.rank = (-self.votes, self.title)


entries = []
for hit in search_films(title="Alien", limit=6):
    score = get_film_score(film_id=hit["film_id"])
    hit["votes"] = score["votes"] or 0
    entries.append(Entry(hit["title"], hit["year"], hit["votes"]))
best = min(entries)
as_map = asdict(best)
as_map.pop("rank")
print(best.title, as_map["votes"] > 1000, sorted(as_map))
