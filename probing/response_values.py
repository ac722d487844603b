"""Extracts the scalars and records in a response, with their paths."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from probing.samples import Sample, Value, ValueOrigin
from protocols.schema import Json, JsonObject
from protocols.secrets import replace_secrets

_DEEPEST = 8
"""Maximum number of nested levels that are read of a response."""
_LONGEST_LIST = 100
"""Maximum number of elements that are read of a list."""
_MOST = 4_000
"""Maximum number of scalars that are read of a response."""
_LONGEST_TEXT = 2_000
"""Maximum number of characters of a string. Longer ones are skipped."""
_MOST_RECORDS = 300
"""Maximum number of records that are read of a response."""
_FIELD = re.compile(r"[A-Za-z_$@][\w $@/-]*")
"""Keys that are names of fields. Other keys are data."""


def harvest(response: Json, schema: JsonObject | None = None) -> Iterator[tuple[str, Json, bool]]:
    """Yield (path, value, is_secret) for each scalar in a response.

    The path is written as `airports[].code`. `schema` is the output schema, which may declare
    secrets. Only a limited number and depth of values are read.
    """
    marked = replace_secrets(response, schema, lambda secret: (secret,))  # JSON has no tuples
    return islice(_walk(marked, "", _DEEPEST), _MOST)


def _walk(node: Any, path: str, depth: int) -> Iterator[tuple[str, Json, bool]]:
    if isinstance(node, tuple):
        yield path, node[0], True
    elif isinstance(node, Mapping):
        for key, part in islice(node.items(), 50) if depth else ():
            if _FIELD.fullmatch(key):
                yield from _walk(part, f"{path}.{key}".lstrip("."), depth - 1)
    elif isinstance(node, list):
        for part in node[:_LONGEST_LIST] if depth else ():
            yield from _walk(part, f"{path}[]", depth - 1)
    elif node is not None and not (isinstance(node, str) and len(node) > _LONGEST_TEXT):
        yield path, node, False


def response_origin(sample: Sample, path: str) -> ValueOrigin:
    """Return the origin of a value in a response: the tool, the path, and the call's number."""
    return ValueOrigin(kind="response", tool=sample.tool, path=path, sample=sample.number)


@dataclass(frozen=True, slots=True)
class ResponseRecord:
    """An object in a response, together with the values that belong to it.

    These are its own scalars, those of the objects that contain it, and the arguments of the call.
    """

    sample: int
    """Number of the sample whose response contains the object."""
    values: Mapping[tuple[str, str], Value]
    """The values, keyed by (tool, response path)."""


def collect_records(
    node: Json,
    path: str,
    around: Mapping[tuple[str, str], Value],
    sample: Sample,
    found: list[ResponseRecord],
) -> None:
    """Add the records in a response to `found`, outer objects first.

    A record is an object in the response.

    Args:
        node: the response, or a part of it.
        path: the response path of `node`.
        around: the values of the objects that contain `node`, and of the call's arguments.
        sample: the call that returned the response.
        found: the list to which the records are added.
    """
    parts = _parts(node, path)
    own = {
        (sample.tool, part_path): Value(value, response_origin(sample, part_path))
        for part_path, value in parts
        if isinstance(value, str | int | float)
    }
    if isinstance(node, Mapping):
        inside = {**around, **own}
        records = [inside] if own else []
    else:
        inside = dict(around)
        records = [{**around, place: value} for place, value in own.items()]
    for record in records:
        if len(found) <= _MOST_RECORDS:
            found.append(ResponseRecord(sample.number, record))
    for part_path, value in parts:
        if isinstance(value, Mapping | list) and len(found) <= _MOST_RECORDS:
            collect_records(value, part_path, inside, sample, found)


def _parts(node: Json, path: str) -> list[tuple[str, Json]]:
    """Return the elements of a list or the fields of an object, each as (path, value).

    At most 40 elements or 100 fields are returned. For a scalar, return an empty list.
    """
    if isinstance(node, list):
        return [(f"{path}[]", item) for item in node[:40]]
    if isinstance(node, Mapping):
        return [(f"{path}.{key}".lstrip("."), value) for key, value in islice(node.items(), 100)]
    return []
