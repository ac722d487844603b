# tools: baseball
# expect: none
# why: attribute access on a response looks wrong, but the dict is turned into a SimpleNamespace first; nullable fields are tested through vars() and a tuple
from types import SimpleNamespace

PARTS = ("birth_year", "birth_month", "birth_day")


def birthday(person: SimpleNamespace) -> str:
    values = tuple(getattr(person, part) for part in PARTS)
    if None in values:
        return "unknown"
    return "%04d-%02d-%02d" % values


def tall(person):
    return person.height_in is not None and divmod(person.height_in, 12)


for hit in search_players(query="randy johnson")["players"]:
    person = SimpleNamespace(**get_player(player_id=hit["player_id"]))
    height = tall(person)
    feet = "{}'{}\"".format(*height) if height else "?"
    print(person.name, birthday(person), feet, (person.bats or "-") + "/" + (person.throws or "-"))
