"""Joins the pieces of a text that an argument contains, to check the text as a whole.

The service may join the pieces, too, so the whole text may matter although no piece of it does.
Examples are the spans of a rich text, a list of bytes, and a text that is split into several
fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from atc.safety.taint.framed import parse_unambiguous
from protocols.schema import Json, JsonObject

_MOST_DIGITS = 7


def find_pieces(value: list[Json]) -> Iterator[str]:
    """Yield the texts that result from joining the items of a list.

    If the items are lists, their texts are joined. If they are objects, the texts that they have
    under the same key are joined.
    """
    rows = [text for row in value if isinstance(row, list) for text in row if isinstance(text, str)]
    if len(rows) > 1:
        yield "".join(rows)
    objects = [item for item in value if isinstance(item, Mapping)]
    if len(objects) < 2:
        return
    for key in objects[0]:
        texts = [item.get(key) for item in objects]
        if all(isinstance(text, str) for text in texts):
            yield "".join(map(str, texts))


def join_pieces(fields: JsonObject) -> str | None:
    """Return the joined texts of an object's fields if together they form a JSON list or object.

    Otherwise return None.
    """
    texts = [value for value in fields.values() if isinstance(value, str) and value.strip()]
    if len(texts) < 2 or texts[0].lstrip()[0] not in "[{":
        return None
    joined = "".join(texts)
    if not isinstance(parse_unambiguous(joined), list | dict):
        return None
    return joined


def read_whole_numbers(values: Iterable[Json]) -> list[int]:
    """Return the integers in a list that contains only integers.

    Nested lists and texts of digits may contain the integers, too. The result is empty if one of
    the values is not an integer.
    """
    numbers = list[int]()
    for value in values:
        inner = read_whole_numbers(value) if isinstance(value, list) else _read_whole(value)
        if not inner:
            return []
        numbers += inner
    return numbers


def _read_whole(value: Json) -> list[int]:
    if isinstance(value, str):
        return [int(value)] if value.isdecimal() and len(value) <= _MOST_DIGITS else []
    is_whole = isinstance(value, int | float) and value % 1 == 0
    return [int(value)] if is_whole and not isinstance(value, bool) else []
