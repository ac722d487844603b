"""The entities in an answer, found by its schema: how the replay knows which id is of what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from toolflow_bench.restbench.document import Operation
from toolflow_bench.restbench.kinds import Kinds


def walk(
    kinds: Kinds, operation: Operation, value: Any, *, named: Sequence[str] = ()
) -> Iterator[tuple[str, str, Any]]:
    """Every entity in an answer to `operation`, as (kind, name of its reference, the reference), in reading order.

    The references are `id`, and `uri` where there is one. `named` are the kinds that the request's arguments named.
    """
    whole = kinds.answered(operation, operation.response)
    yield from _walk(kinds, operation, operation.response, value, whole, named)


def _walk(
    kinds: Kinds, operation: Operation, schema: Any, value: Any, kind: str, named: Sequence[str]
) -> Iterator[tuple[str, str, Any]]:
    if not isinstance(value, dict):
        return
    if kind:
        yield from ((kind, key, value[key]) for key in ("id", "uri") if key in value)
    for name, inner in kinds.document.shape(schema).properties.items():
        shape = kinds.document.shape(inner)
        part = value.get(name)
        entries = part if isinstance(part, list) else [part]
        for entry in entries:
            told = _told_kind(kinds, operation, inner if shape.items is None else shape.items, name, entry, named)
            yield from _walk(kinds, operation, told[1], entry, told[0], named)


def _told_kind(
    kinds: Kinds, operation: Operation, schema: Any, name: str, value: Any, named: Sequence[str]
) -> tuple[str, Any]:
    """The kind of one object and its schema; of alternatives, by what the object says it is."""
    pairs = kinds.options(schema, name=name, operation=operation)
    if not pairs:
        return "", schema
    said = value.get("media_type") or value.get("type") if isinstance(value, dict) else None
    chosen = next((pair for pair in pairs if pair[0] == said), pairs[0])
    if chosen[0] not in named and named and named[0] in kinds.listed and not kinds.takes_id(operation):
        return (named[0], kinds.listed[named[0]]) if len(pairs) == 1 and chosen[0] in kinds.listed else chosen
    return chosen
