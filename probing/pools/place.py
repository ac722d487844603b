"""One place that holds values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from probing.naming import Name
from probing.sample import Value
from probing.shape import text_of
from protocols.jsontypes import Json
from protocols.words import singular, snake

MOST_VALUES = 500
"""Different values that are kept of one place."""
_MOST_ITEMS = 20


@dataclass
class Place:
    """The different values of one path of one tool's responses, or of one argument with which it answered.

    `values` are by their text, in the order in which they came. `echoes` while every value was also an argument of
    the very call: then the tool yields nothing there that its caller does not know. `secret` where any was judged so.
    `told`: they stood in the words of a text.
    """

    tool: str
    path: str
    name: Name
    argument: bool = False
    told: bool = False
    values: dict[str, Value] = field(default_factory=dict)
    echoes: bool = True
    secret: bool = False

    def keep(self, value: Value, *, secret: bool = False, sent: AbstractSet[str] = frozenset()) -> None:
        """Take in one value; `sent` are the texts of the call's arguments, in small letters."""
        text = text_of(value.value)
        self.secret = self.secret or secret
        self.echoes = self.echoes and text.lower() in sent
        if len(self.values) < MOST_VALUES:
            self.values.setdefault(text, value)


def scalars(value: Json) -> Iterator[Json]:
    """A scalar itself, or those in a list of them."""
    items = value[:_MOST_ITEMS] if isinstance(value, list | tuple) else [value]
    return (item for item in items if isinstance(item, str | int | float))


def last_segment(text: str) -> tuple[str, str] | None:
    """What a link leads to: `https://a.example/v1/users/42` → `("user", "42")`; `None` for other texts."""
    if not re.match(r"https?://|/[\w-]+/", text) or len(text) > 400:
        return None
    try:
        segments = [part for part in urlsplit(text).path.split("/") if part]
    except ValueError:
        return None
    if len(segments) < 2 or not re.fullmatch(r"[\w.~-]{1,64}", segments[-1]) or "." in segments[-1]:
        return None
    noun = singular(snake(segments[-2]))
    return (noun, segments[-1]) if noun and not noun[0].isdigit() and noun != snake(segments[-2]) else None
