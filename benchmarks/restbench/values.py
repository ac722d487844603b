"""Invented values and names that are derived from a key. A key always gives the same value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from protocols.schema import Json

_FIRST_WORDS = (
    "Amber Bright Cold Distant Early Golden Hidden Iron Late Long Lost Open Pale Quiet Rising "
    "Silver Slow"
)
_SECOND_WORDS = (
    "Anchor Arrow Bay Bell Bridge Coast Echo Field Gate Hill Island Letter Mirror River Road Tide"
)
_FIRST = _FIRST_WORDS.split()
_SECOND = _SECOND_WORDS.split()


def draw_number(*key: object) -> int:
    """Return a number below 2**48 that depends only on `key`."""
    return int.from_bytes(blake2b("\0".join(map(str, key)).encode(), digest_size=6).digest(), "big")


def scalar(schema: Mapping[str, Any], name: str, *key: object) -> Json:
    """Return an invented value for the property `name` that fits a schema.

    The same key and name always give the same value.
    """
    number = draw_number(*key, name)
    kinds = schema.get("type")
    if choices := schema.get("enum"):
        chosen: Json = choices[number % len(choices)]
        return chosen
    match (
        next((kind for kind in kinds if kind != "null"), None) if isinstance(kinds, list) else kinds
    ):
        case "integer":
            return int(schema.get("minimum", 0)) + number % 1000
        case "number":
            return number % 1000 / 100
        case "boolean":
            return number % 2 == 0
        case "string" if re.search("date|day$", f"{name} {schema.get('format')}"):
            return f"{1970 + number % 54}-{1 + number % 12:02d}-{1 + number % 28:02d}"
        case "string" if re.search(
            "url|uri|href|homepage|spotify", f"{name} {schema.get('format')}"
        ):
            return f"https://example.org/{number:x}"
        case "string":
            return label(*key, name)
        case "object":
            return {
                inner: scalar(part, inner, *key, name)
                for inner, part in schema.get("properties", {}).items()
            }
    return None


def label(*key: object) -> str:
    return (
        f"{_FIRST[draw_number('first', *key) % len(_FIRST)]} "
        f"{_SECOND[draw_number('second', *key) % len(_SECOND)]}"
    )
