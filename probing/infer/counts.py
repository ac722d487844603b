"""How often each path of a schema was seen in replies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from protocols.jsontypes import Json, JsonObject
from protocols.schema import resolve

_Above = dict[str, list[Json]]
"""References that lead here → values found where they lead again, still to be visited."""


def count_fields(schema: JsonObject, replies: Iterable[Json]) -> dict[str, int]:
    """Path as `protocols.links.response_paths` spells it → in how many of `replies` there is a value.

    Values of a map stand under `*` (`rates.*`), as `protocols.secrecy` spells them. Recursive schemas are followed once
    around: what is found further down counts for the outermost place.
    """
    counts: Counter[str] = Counter()
    for reply in replies:
        found: dict[str, None] = {}
        _visit(schema, schema, [reply], "", {}, found)
        found.pop("", None)
        counts.update(found.keys())
    return dict(counts)


def _visit(schema: Any, root: JsonObject, values: list[Json], path: str, above: _Above, found: dict[str, None]) -> None:
    """Note the paths of `values`, all of which stand at `path`, and of what is in them."""
    if not isinstance(schema, dict):
        return
    reference, waiting = schema.get("$ref"), list(values)
    if isinstance(reference, str):
        if reference in above:
            above[reference].extend(values)
            return
        above = {**above, reference: waiting}
    here = resolve(schema, root)
    while waiting:
        values = list(waiting)
        waiting.clear()
        found[path] = None
        for keyword in ("allOf", "anyOf", "oneOf"):
            for part in here.get(keyword, ()):
                _visit(part, root, values, path, above, found)
        _inside(here, root, values, path, above, found)


def _inside(
    here: JsonObject, root: JsonObject, values: list[Json], path: str, above: _Above, found: dict[str, None]
) -> None:
    objects = [value for value in values if isinstance(value, dict)]
    named = here.get("properties", {})
    for key, part in named.items():
        _visit(part, root, [value[key] for value in objects if key in value], _under(path, key), above, found)
    if isinstance(rest := here.get("additionalProperties"), dict):
        inner = [part for value in objects for key, part in value.items() if key not in named]
        _visit(rest, root, inner, _under(path, "*"), above, found)
    if isinstance(items := here.get("items"), dict):
        elements = [element for value in values if isinstance(value, list) for element in value]
        _visit(items, root, elements, f"{path}[]", above, found)


def _under(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
