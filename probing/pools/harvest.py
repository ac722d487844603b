"""Every scalar of a response, with its path and whether it is a secret."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from probing.infer.keyforms import form_of
from probing.naming import KEYS
from protocols.jsontypes import Json, JsonObject
from protocols.secrecy import covered

_DEEPEST = 10
_LONGEST_LIST = 300
_MOST = 20_000
"""Scalars taken of one response."""
_LONGEST_TEXT = 2_000

_LOOKED_AT = 50
_PLAIN_KEY = re.compile(r"[^.\[\]{}*]+")
"""A key that stands in a path without being taken for something else."""


class Found(NamedTuple):
    """A scalar at a path (`airports[].code`), as it came."""

    path: str
    value: Json
    secret: bool


@dataclass(frozen=True, slots=True)
class _Secret:
    value: Json


def harvest(response: Json, schema: JsonObject | None = None) -> Iterator[Found]:
    """The scalars of a response in its order, bounded in depth and number; none is `null`.

    `schema` is the response's, where it is known: it may mark secrets.
    """
    for number, found in enumerate(_walk(covered(_pruned(response, _DEEPEST), schema, _Secret), "")):
        if number >= _MOST:
            return
        yield found


def followable(path: str) -> bool:
    """Whether a program can read the values at a path as it stands: no map lies on the way."""
    return "*" not in path and KEYS not in path


def keyed_by_data(node: JsonObject) -> bool:
    """Whether the keys of an object are values (ids, dates), as those of a record are not."""
    keys, parts = list(node)[:_LOOKED_AT], list(node.values())[:_LOOKED_AT]
    forms = {form_of(key) for key in keys}
    return (
        bool(keys) and "" not in forms and len(forms) <= 2 and len({type(part) for part in parts} - {type(None)}) <= 1
    )


def _walk(node: Json, path: str) -> Iterator[Found]:
    if isinstance(node, _Secret):
        yield Found(path, node.value, secret=True)
    elif isinstance(node, Mapping):
        is_map = keyed_by_data(node)
        for key, part in node.items():
            name = "*" if is_map else key
            if is_map:
                yield Found(f"{path}.{KEYS}".lstrip("."), key, secret=False)
            if is_map or _PLAIN_KEY.fullmatch(key):
                yield from _walk(part, f"{path}.{name}" if path else name)
    elif isinstance(node, list):
        for part in node:
            yield from _walk(part, f"{path}[]")
    elif node is not None and not (isinstance(node, str) and len(node) > _LONGEST_TEXT):
        yield Found(path, node, secret=False)


def _pruned(node: Json, depth: int) -> Json:
    """The node cut to a depth and to lists of a length, so that what is walked after it is small."""
    if isinstance(node, Mapping):
        return {str(k): _pruned(v, depth - 1) for k, v in list(node.items())[:_LONGEST_LIST]} if depth else None
    if isinstance(node, list | tuple):
        return [_pruned(part, depth - 1) for part in node[:_LONGEST_LIST]] if depth else None
    return node
