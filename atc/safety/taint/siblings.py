"""Predicts further calls of a program that calls one tool for each item of a list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from atc.core.json_paths import EACH, KEY, JsonPath, PathStep, count_shared_steps, generalize
from atc.safety.taint.leaves import Leaf
from atc.safety.taint.values import equality_key
from protocols.schema import Json, JsonObject
from sandbox.trace import ToolCall

ResponseValue = tuple[ToolCall, JsonPath, Json]
"""A value in a response: its call, its path in the response, and the value."""


def sibling_arguments(
    leaves: Sequence[Leaf], arguments: JsonObject, values: Sequence[ResponseValue]
) -> Iterator[dict[str, Json]]:
    """Yield the arguments of the same call for each other item of a list in a response.

    For example, a program calls `send(to="a@x.org")`, and a response contains
    `[{"email": "a@x.org"}, {"email": "b@x.org"}]`. Then `{"to": "b@x.org"}` is yielded.

    `leaves` are values in `arguments`, some of which come from one item of the list. Leaves that
    equal no value in a response stay as they are. Nothing is yielded if the leaves come from
    several responses. `values` are all values of all responses, the latest response first.
    """
    found = _find_sources(leaves, values)
    if not found:
        return
    leaves = [leaf for leaf, _ in found]
    paths = [path for _, (_, path, _) in found]
    known = {path: value for call, path, value in values if call is found[0][1][0]}
    seen = {tuple(equality_key(leaf.value) for leaf in leaves)}
    for row in _rows(paths, known):
        keys = tuple(map(equality_key, row))
        if keys in seen or not all(isinstance(value, str | int | float) for value in row):
            continue
        seen.add(keys)
        changed: Json = dict(arguments)
        for leaf, value in zip(leaves, row, strict=True):
            changed = _with_value(changed, (leaf.argument, *leaf.path), value)
        yield cast("dict[str, Json]", changed)


def _find_sources(
    leaves: Sequence[Leaf], values: Sequence[ResponseValue]
) -> list[tuple[Leaf, ResponseValue]]:
    """Return the leaves that equal a value in a response, each with this value.

    The result is empty if a leaf is a key or a part of a text, or if the values are in several
    responses.
    """
    if any(leaf.within is not None or KEY in leaf.path for leaf in leaves):
        return []
    found = [(leaf, source) for leaf in leaves if (source := _find_source(leaf, values))]
    is_one_response = all(source[0] is found[0][1][0] for _, source in found)
    return found if is_one_response else []


def _find_source(leaf: Leaf, values: Sequence[ResponseValue]) -> ResponseValue | None:
    """Return the latest value in a response that equals a leaf, or None."""
    key = equality_key(leaf.value)
    return next((one for one in values if equality_key(one[2]) == key), None)


def _rows(paths: Sequence[JsonPath], known: Mapping[JsonPath, Json]) -> Iterator[tuple[Json, ...]]:
    """Yield the values at certain places in each item of a list.

    `paths` are these places in one of the items, and `known` has the values of the response, keyed
    by path. The items of a list within a list also count if there is only one path: the value at
    this place in every inner list is yielded.
    """
    if len(paths) == 1:
        yield from _rows_of_one_value(paths[0], known)
        return
    shared = paths[0][: min(count_shared_steps(paths[0], path) for path in paths)]
    depth = max((at for at, step in enumerate(shared) if isinstance(step, int)), default=-1)
    if depth < 0:
        return
    before = shared[:depth]
    items = {path[depth] for path in known if path[:depth] == before and len(path) > depth}
    for item in sorted(step for step in items if isinstance(step, int)):
        row = [(*before, item, *path[depth + 1 :]) for path in paths]
        if all(path in known for path in row):
            yield tuple(known[path] for path in row)


def _rows_of_one_value(path: JsonPath, known: Mapping[JsonPath, Json]) -> Iterator[tuple[Json]]:
    place = generalize(path)
    if EACH in place:
        yield from ((value,) for other, value in known.items() if generalize(other) == place)


def _with_value(document: Json, path: Sequence[PathStep], value: Json) -> Json:
    """Return a copy of a document with another value at a path that exists in it."""
    if not path:
        return value
    step = path[0]
    rest = path[1:]
    if isinstance(document, Mapping):
        return {**document, str(step): _with_value(document[str(step)], rest, value)}
    if isinstance(document, list) and isinstance(step, int):
        return [*document[:step], _with_value(document[step], rest, value), *document[step + 1 :]]
    return document
