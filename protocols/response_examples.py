"""Fields that a document shows in its examples of a response, but leaves out of the schema."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from protocols.schema import Json, JsonObject, as_mapping, expand_combinations, loads, resolve

_DEEPEST = 12
_MOST_VIEWS = 50
_MOST_ITEMS = 20
_ANY_TYPE = ("object", "array", "string", "number", "integer", "boolean", "null")


def examples_beside(described: JsonObject, root: JsonObject) -> list[Json]:
    """Return the examples in a schema, or in the description of a response with one media type.

    `described` is the schema or the description. Several examples are an object with names in
    OpenAPI, and a list in JSON Schema. Only examples that are objects or lists are returned.
    """
    several = described.get("examples")
    named = [resolve(one, root).get("value") for one in as_mapping(several).values()]
    listed = several if isinstance(several, list) else []
    examples = map(_parse_text, [described.get("example"), *named, *listed])
    return [one for one in examples if isinstance(one, dict | list)]


def _parse_text(example: Json) -> Json:
    """Return the value of an example that is an object or a list, written as JSON text."""
    if not isinstance(example, str) or not example.lstrip().startswith(("{", "[")):
        return example
    try:
        return loads(example)
    except (ValueError, RecursionError):
        return example


def find_shown_fields(examples: Iterable[Json], schema: Json, root: JsonObject) -> dict[str, Any]:
    """Return a schema with the fields that `examples` have and that `schema` does not declare.

    The returned schema allows any value for these fields. It also contains the new fields of nested
    objects. References of `schema` are resolved in `root`. Return {} if the examples show no
    further fields.
    """
    return _find_shown([*examples], [schema], root, 0)


def _find_shown(
    values: list[Json], schemas: list[Json], root: JsonObject, depth: int
) -> dict[str, Any]:
    """Return the result of `find_shown_fields` for values to which all `schemas` apply."""
    containers = [value for value in values if isinstance(value, dict | list) and value]
    if not containers or not schemas or depth > _DEEPEST:
        return {}
    views = expand_combinations(schemas, root, most=_MOST_VIEWS)
    found: dict[str, Any] = {}
    items = [one for value in containers if isinstance(value, list) for one in value[:_MOST_ITEMS]]
    inner = [view["items"] for view in views if "items" in view]
    if shown := _find_shown(items, inner, root, depth + 1):
        found["items"] = shown
    objects = [value for value in containers if isinstance(value, dict)]
    if properties := _find_shown_properties(objects, views, root, depth):
        found["properties"] = properties
    return {"type": [*_ANY_TYPE], **found} if found else {}


def _find_shown_properties(
    objects: Sequence[JsonObject], views: list[JsonObject], root: JsonObject, depth: int
) -> dict[str, Any]:
    """Return a schema for each field of `objects` which is new, or has new fields inside.

    `views` are the schemas of the objects. If they declare no fields at all, the result is empty,
    because the objects may then have any fields.
    """
    declared = [as_mapping(view.get("properties")) for view in views]
    if not any(declared):
        return {}
    found: dict[str, Any] = {}
    for key in dict.fromkeys(key for value in objects for key in value):
        schemas = [properties[key] for properties in declared if key in properties]
        inner = [value[key] for value in objects if key in value]
        shown = _find_shown(inner, schemas, root, depth + 1)
        if shown or not schemas:
            found[str(key)] = shown
    return found
