"""Made-up responses: values that conform to a schema, for programs that are run on tools which nobody implements."""

from __future__ import annotations

import random
from typing import Any

from protocols.jsontypes import Json, JsonObject
from protocols.schema import resolve, types, violations
from toolflow_bench.decoding.random.drafts import FORMATS

_DEPTH = 6
_TRIES = 8
_MOST_ITEMS = 1000
"""Of one array; a schema that demands more is out of reach."""


def conforming(schema: JsonObject, rng: random.Random) -> Json:
    """A value that conforms to `schema`; of one whose clauses are out of reach, the last that was tried."""
    value: Json = None
    for _ in range(_TRIES):
        value = _value(schema, schema, rng, _DEPTH)
        try:
            if not violations(schema, value):
                return value
        except ValueError:
            return value
    return value


def _value(schema: Any, root: JsonObject, rng: random.Random, depth: int) -> Json:
    said = dict(resolve(schema, root)) if isinstance(schema, dict) else {}
    for part in said.pop("allOf", ()):
        said = {**resolve(part, root), **said}
    for keyword in ("anyOf", "oneOf"):
        if options := said.pop(keyword, ()):
            return _value({**said, **resolve(rng.choice(options), root)}, root, rng, depth)
    if "const" in said:
        return said["const"]
    if said.get("enum"):
        return rng.choice(said["enum"])
    match rng.choice(types(said) or ("string",)):
        case "object":
            return _object(said, root, rng, depth)
        case "array":
            least = min(said.get("minItems", 0), _MOST_ITEMS)
            count = rng.randrange(least, min(least + 3, said.get("maxItems", least + 3)) + 1) if depth > 0 else least
            return [_value(said.get("items", {}), root, rng, depth - 1) for _ in range(count)]
        case "integer":
            low = said.get("minimum", said.get("exclusiveMinimum", -1) + 1)
            high = said.get("maximum", said.get("exclusiveMaximum", low + 10_000) - 1)
            return rng.randint(int(low), max(int(low), int(high)))
        case "number":
            low = said.get("minimum", said.get("exclusiveMinimum", 0))
            return round(low + rng.random() * (said.get("maximum", low + 100) - low), 3)
        case "boolean":
            return rng.random() < 0.5
        case "null":
            return None
    text = FORMATS.get(said.get("format", ""), f"text {rng.randrange(10_000)}")
    return text.ljust(said.get("minLength", 0), "x")[: said.get("maxLength", len(text) + 1_000)]


def _object(said: JsonObject, root: JsonObject, rng: random.Random, depth: int) -> Json:
    properties, required = said.get("properties", {}), said.get("required", ())
    return {
        name: _value(part, root, rng, depth - 1)
        for name, part in properties.items()
        if name in required or (depth > 0 and rng.random() < 0.7)
    }
