"""Encodes the values of arguments as text for URLs and forms."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from urllib.parse import quote, urlencode

from protocols.schema import Json


def join_items(value: Json, joint: str) -> Json:
    """Return an argument of the query or a form as one text.

    If `joint` is `{}`, the result is the JSON of the value. Otherwise the items of a list are
    joined with `joint` between them. An empty list gives None, and other values stay as they are.
    """
    if joint == "{}":
        return None if value is None else json.dumps(value, separators=(",", ":"))
    if isinstance(value, list | tuple):
        return joint.join(item for _, item in text_pairs({"": value})) or None
    return value


def url_encode(values: Mapping[str, Json]) -> str:
    """Return values as a URL-encoded query or form."""
    return urlencode(text_pairs(values), quote_via=quote, safe="")


def iter_deep_object_pairs(name: str, value: Json) -> Iterator[tuple[str, Json]]:
    """Yield the names and values of the parameters for a value in OpenAPI's deepObject style.

    For example, `{"gte": 1}` in `created` becomes `created[gte]`, `["x"]` in `expand` becomes
    `expand[]`, and a list of objects in `items` becomes `items[0][price]`.
    """
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from iter_deep_object_pairs(f"{name}[{key}]", inner)
    elif isinstance(value, list | tuple) and any(
        isinstance(item, Mapping | list | tuple) for item in value
    ):
        for number, inner in enumerate(value):
            yield from iter_deep_object_pairs(f"{name}[{number}]", inner)
    else:
        yield f"{name}[]" if isinstance(value, list | tuple) else name, value


def text_pairs(values: Mapping[str, Json]) -> list[tuple[str, str]]:
    """Return (name, text) for each value to send.

    An array gives one pair for each item, and null gives none.
    """
    return [
        (name, item if isinstance(item, str) else json.dumps(item, separators=(",", ":")))
        for name, value in values.items()
        for item in (value if isinstance(value, list | tuple) else [value])
        if item is not None
    ]
