"""Whether a document says something of every place of some values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from probing.infer.known import Known
from probing.infer.place import MAX_DEPTH
from protocols.jsontypes import Json, JsonObject
from protocols.schema import resolve

_OTHERWISE = ("patternProperties", "prefixItems", "contains", "if", "dependentSchemas", "$dynamicRef")
"""Keywords that describe places in ways that are not followed here."""


def described(known: Known, values: list[Json]) -> bool:
    """Whether each key of each object and each element has a part of the document that says something of it."""
    return _described([known.schema], known.root, values, 0)


def _described(schemas: Iterable[Any], root: JsonObject, values: list[Json], depth: int) -> bool:
    if not values or depth >= MAX_DEPTH:
        return True
    views = _views(schemas, root, 0)
    if views and all(value is None for value in values):
        # Nothing can be said of what is always null, beyond that there is such a place.
        return True
    if not any(known and not known.only_null for known in (Known.of(view, root) for view in views)):
        return False
    if any(keyword in view for view in views for keyword in _OTHERWISE):
        return True
    objects = [value for value in values if isinstance(value, dict)]
    for key in dict.fromkeys(key for value in objects for key in value):
        parts = [view["properties"][key] for view in views if key in view.get("properties", {})]
        parts = parts or [view["additionalProperties"] for view in views if "additionalProperties" in view]
        if not _described(parts, root, [value[key] for value in objects if key in value], depth + 1):
            return False
    elements = [element for value in values if isinstance(value, list) for element in value]
    return _described([view["items"] for view in views if "items" in view], root, elements, depth + 1)


def _views(schemas: Iterable[Any], root: JsonObject, depth: int) -> list[JsonObject]:
    """The schemas with the parts that they combine, references followed."""
    found: list[JsonObject] = []
    for schema in schemas:
        here = resolve(schema, root)
        found.append(here)
        if depth < MAX_DEPTH:
            combined = [part for keyword in ("allOf", "anyOf", "oneOf") for part in here.get(keyword, ())]
            found += _views(combined, root, depth + 1)
    return found
