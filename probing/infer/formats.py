"""Formats of strings: stated only where every value has it and enough different ones were seen."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import Any

from protocols.schema import validator

ENOUGH_VALUES, ENOUGH_DIFFERENT = 3, 2
"""Values of a place, and different ones among them, without which no format is stated."""

_SHAPES = {
    "date": re.compile(r"\d{4}-\d\d-\d\d"),
    "date-time": re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)"),
    "time": re.compile(r"\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)"),
    "uuid": re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"),
    "ipv4": re.compile(r"\d{1,3}(\.\d{1,3}){3}"),
    "email": re.compile(r"[^@\s<>]+@[^@\s<>]+\.[^@\s<>.]+"),
    "uri": re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*://\S+"),
}
"""Narrower than the formats: `a:b` is a URI and `1.2.3.4` may be a version."""

_VERSIONS = frozenset({"build", "firmware", "oid", "release", "revision", "version"})


def format_of(seen: Mapping[tuple[str, int], int], name: str) -> str | None:
    """The format of the strings of a field, or None. `seen`: (string, number of its reply) → how often."""
    values = {value for value, _ in seen}
    if len(values) < ENOUGH_DIFFERENT or sum(seen.values()) < ENOUGH_VALUES:
        return None
    return common_format(values, name)


def common_format(values: Collection[str], name: str = "") -> str | None:
    """The format that all of `values` have, as the validator judges it."""
    first = min(values, default="")
    found = next((fmt for fmt, shape in _SHAPES.items() if shape.fullmatch(first)), None)
    if found is None or (found == "ipv4" and _VERSIONS & set(re.findall(r"[a-z]+", name.lower()))):
        return None
    shape = _SHAPES[found]
    return found if all(map(shape.fullmatch, values)) and _valid(found, values) else None


def _valid(name: str, values: Iterable[str]) -> bool:
    try:
        return all(map(_validator(name).is_valid, values))
    except ValueError:  # half a surrogate pair
        return False


@cache
def _validator(name: str) -> Any:
    return validator({"format": name})
