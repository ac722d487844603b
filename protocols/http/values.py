"""Encodes the values of arguments as text for URLs and forms."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from urllib.parse import quote, urlencode

from protocols.schema import Json


def join_items(value: Json, joint: str) -> Json:
    """Return the value of a query or form argument, with a list joined into one text.

    `joint` is the text between the items. The special value `{}` means that the result is the JSON
    of the value. An empty list gives None, and values that are not lists stay as they are.
    """
    if joint == "{}":
        return None if value is None else json.dumps(value, separators=(",", ":"))
    if isinstance(value, list | tuple):
        return joint.join(item for _, item in text_pairs({"": value})) or None
    return value


def url_encode(values: Mapping[str, Json]) -> str:
    """Return names and values as a URL-encoded query or form.

    For example, `{"a": 1, "b": "x y"}` becomes `a=1&b=x%20y`.
    """
    return urlencode(text_pairs(values), quote_via=quote, safe="")


def iter_deep_object_pairs(name: str, value: Json) -> Iterator[tuple[str, Json]]:
    """Yield the name and value of each parameter for a nested value, in OpenAPI's deepObject style.

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
    """Return (name, text) for each value to send, where the text is the value or its JSON.

    An array gives one pair for each item, and null gives none.
    """
    return [
        (name, item if isinstance(item, str) else json.dumps(item, separators=(",", ":")))
        for name, value in values.items()
        for item in (value if isinstance(value, list | tuple) else [value])
        if item is not None
    ]
