"""Finds the calls that a program probably makes like a given one, with other items of a list."""

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
    """Yield `arguments` with the values of each other item of the list that `leaves` came from.

    `leaves` are values in `arguments`. `values` are all values of all responses, the latest
    response first. Leaves that equal no value in a response stay as they are. Nothing is yielded
    unless the others equal values in one response.
    """
    if any(leaf.within is not None or KEY in leaf.path for leaf in leaves):
        return
    found = [(leaf, source) for leaf in leaves if (source := _find_source(leaf, values))]
    if not found or any(source[0] is not found[0][1][0] for _, source in found):
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


def _find_source(leaf: Leaf, values: Sequence[ResponseValue]) -> ResponseValue | None:
    """Return the latest value in a response that equals a leaf, or None."""
    key = equality_key(leaf.value)
    return next((one for one in values if equality_key(one[2]) == key), None)


def _rows(paths: Sequence[JsonPath], known: Mapping[JsonPath, Json]) -> Iterator[tuple[Json, ...]]:
    """Yield the values at the same places of each item of a list, for the places of one item.

    `known` are the values of a response by path, and `paths` the places of one item. A single place
    may be in a list within a list; then the values in all of these lists are yielded.
    """
    if len(paths) == 1:
        place = generalize(paths[0])
        if EACH in place:
            yield from ((value,) for path, value in known.items() if generalize(path) == place)
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


def _with_value(document: Json, path: Sequence[PathStep], value: Json) -> Json:
    """Return a copy of a document with another value at a path that exists in it."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(document, Mapping):
        return {**document, str(step): _with_value(document[str(step)], rest, value)}
    if isinstance(document, list) and isinstance(step, int):
        return [*document[:step], _with_value(document[step], rest, value), *document[step + 1 :]]
    return document
