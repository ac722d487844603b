"""Invented services: a shape drawn at random, and replies of that shape, with trees, maps, kinds and gaps."""

from __future__ import annotations

from random import Random
from typing import Any

NAMES = [
    "id",
    "name",
    "title",
    "status",
    "count",
    "price",
    "owner",
    "items",
    "notes",
    "created",
    "url",
    "email",
    "tags",
]
KINDS = ["circle", "square", "line", "text", "group", "image"]


class Service:
    """Replies of one endpoint."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._shape = self._record(3)

    def reply(self) -> Any:
        """One more reply."""
        return self._value(self._shape)

    def _record(self, depth: int) -> tuple[Any, ...]:
        names = self._random.sample(NAMES, self._random.randrange(1, 7))
        return ("record", {name: (self._random.choice([1.0, 1.0, 0.6]), self._part(depth - 1)) for name in names})

    def _part(self, depth: int) -> tuple[Any, ...]:
        kinds = ["text", "whole", "number", "flag", "date", "url", "word", "null", "maybe", "either"]
        if depth > 0:
            kinds += ["record", "list", "map", "kinds", "tree", "nested map"]
        match self._random.choice(kinds):
            case "record":
                return self._record(depth)
            case "list":
                return ("list", self._part(depth - 1))
            case "map" | "nested map" as kind:
                return (kind, self._random.choice(["date", "number", "word"]), self._part(depth - 1))
            case "maybe":
                return ("maybe", self._part(depth - 1))
            case "either":
                return ("either", self._part(0), self._part(0))
            case "kinds":
                names = self._random.sample(KINDS, self._random.randrange(2, 5))
                return ("kinds", {name: self._record(1)[1] for name in names})
            case "tree":
                return ("tree", self._random.choice(["children", "replies"]), self._record(1)[1])
            case scalar:
                return (scalar,)

    def _value(self, shape: tuple[Any, ...], depth: int = 0) -> Any:
        random = self._random
        match shape:
            case ("record", fields):
                return {
                    name: self._value(part, depth) for name, (often, part) in fields.items() if random.random() < often
                }
            case ("list", part):
                return [self._value(part, depth) for _ in range(random.randrange(4))]
            case ("map", keys, part):
                return {self._key(keys): self._value(part, depth) for _ in range(random.randrange(6))}
            case ("nested map", keys, part):
                return {
                    self._key(keys): {self._key(keys): self._value(part, depth)} for _ in range(random.randrange(4))
                }
            case ("maybe", part):
                return self._value(part, depth) if random.random() < 0.7 else None
            case ("either", one, other):
                return self._value(random.choice([one, other]), depth)
            case ("kinds", kinds):
                names = [random.choice(list(kinds)) for _ in range(random.randrange(5))]
                return [{"type": name} | self._value(("record", kinds[name]), depth) for name in names]
            case ("tree", key, fields):
                node = self._value(("record", fields), depth)
                inner = [self._value(shape, depth + 1) for _ in range(random.randrange(3 if depth < 4 else 1))]
                return node | ({key: inner} if inner or random.random() < 0.7 else {})
        return self._scalar(shape[0])

    def _key(self, form: str) -> str:
        number = self._random.randrange(1000)
        return {"date": f"2024-{number % 12 + 1:02}-{number % 28 + 1:02}", "number": str(number)}.get(
            form, f"w{number}"
        )

    def _scalar(self, kind: str) -> Any:
        number = self._random.randrange(1000)
        scalars = {
            "text": f"some words {number}",
            "whole": number,
            "number": number + 0.5,
            "flag": number % 2 == 0,
            "null": None,
            "date": f"2024-{number % 12 + 1:02}-11",
            "url": f"https://a.example/{number}",
            "word": KINDS[number % 3],
        }
        return scalars[kind]
