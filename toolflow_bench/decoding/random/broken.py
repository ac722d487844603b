"""Schemas to which nothing conforms, or that no decoder can know: they must be refused before a model writes."""

from __future__ import annotations

from typing import Any

from toolflow_bench.decoding.random.drafts import Draw

CONTRADICTORY: tuple[Any, ...] = (
    False,
    {"enum": []},
    {"type": "integer", "minimum": 5, "maximum": 4},
    {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2},
    {"type": "integer", "minimum": 11, "maximum": 19, "multipleOf": 10},
    {"type": "string", "minLength": 3, "maxLength": 2},
    {"type": "string", "enum": [1, None]},
    {"type": "string", "pattern": "^a{5}$", "maxLength": 4},
    {"type": "string", "pattern": "^[a-z]+$", "enum": ["A", "7"]},
    {"type": "string", "pattern": "a^b$c"},
    {"const": 5, "enum": [6]},
    {"type": "array", "minItems": 2, "maxItems": 1},
    {"type": "array", "items": False, "minItems": 1},
    {"type": "object", "properties": {"a": False}, "required": ["a"]},
    {"type": "object", "required": ["a"], "additionalProperties": False},
    {"allOf": [{"type": "string"}, {"type": "integer"}]},
    {"anyOf": [False, {"type": "integer", "minimum": 1, "maximum": 0}]},
    {"type": "object", "properties": {"next": {"$ref": "#/$defs/endless"}}, "required": ["next"]},
    {"$ref": "#/$defs/endless"},
    {"$ref": "#/$defs/loop"},
)
"""The last three with `ENDLESS` among the definitions."""

ENDLESS: dict[str, Any] = {
    "endless": {"type": "object", "properties": {"next": {"$ref": "#/$defs/endless"}}, "required": ["next"]},
    "loop": {"$ref": "#/$defs/loop"},
}

UNKNOWABLE: tuple[Any, ...] = (
    {"$ref": "https://example.org/schema.json"},
    {"$ref": "#/$defs/missing"},
    {"type": "string", "pattern": "(?<!a)b"},
    {"type": "string", "pattern": r"^(a|b)\1$"},
    {"type": "string", "pattern": "^(?=a)"},
    {"type": "string", "pattern": "["},
    {"type": "dict"},
    {"type": "string", "minLength": 1_000_000},
    {"type": "array", "minItems": 1_000_000},
    {"properties": ["a"]},
    {"type": "string", "minLength": "3"},
    {"anyOf": {"type": "string"}},
    "string",
)
"""References that lead nowhere, what no regular expression is, words that are not JSON Schema's, sizes beyond use."""


def broken(draw: Draw) -> Any:
    """A schema that has no example."""
    kind = draw.one("contradictory", "unknowable")
    draw.kinds.add(kind)
    if kind == "unknowable":
        return draw.rng.choice(UNKNOWABLE)
    draw.definitions |= ENDLESS
    return draw.rng.choice(CONTRADICTORY)
