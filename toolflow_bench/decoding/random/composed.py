"""Random schemas of values within values: arrays, objects, combinations and references."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from protocols.jsontypes import Json
from toolflow_bench.decoding.random.drafts import HOSTILE, SCALARS, Draft, Draw, text

NAMES = (
    "id",
    "name",
    "from",
    "class",
    "page_size",
    "a b",
    "a-b",
    "q",
    "x.y",
    "$ref",
    "type",
    "名",
    "é",
    "None",
    "__class__",
)
"""Of properties; hostile texts are drawn besides."""


def value(draw: Draw, depth: int) -> Draft:
    """Any schema, with at most `depth` levels below it."""
    if depth <= 0 or draw.chance(0.55):
        return draw.rng.choice(SCALARS)(draw)
    return draw.rng.choice(_COMPOSED)(draw, depth)


def array(draw: Draw, depth: int) -> Draft:
    """An array: of items, with bounds, of a fixed beginning."""
    draw.kinds.add("array")
    rng = draw.rng
    item = value(draw, depth - 1)
    match rng.randrange(6):
        case 0:
            return Draft({"type": "array"}, [1, "a", None])
        case 1 | 2:
            return Draft({"type": "array", "items": item.schema}, [item.example] * rng.randrange(3))
        case 3 | 4:
            draw.kinds.add("items bounds")
            least, more = rng.randrange(4), rng.randrange(3)
            bounds = {"minItems": least, "maxItems": least + more}
            dropped = rng.choice((None, "minItems", "maxItems"))
            kept = {key: number for key, number in bounds.items() if key != dropped}
            return Draft({"type": "array", "items": item.schema, **kept}, [item.example] * least)
        case _:
            draw.kinds.add("prefixItems")
            first = [value(draw, depth - 1) for _ in range(rng.randrange(1, 3))]
            schema = {"type": "array", "prefixItems": [one.schema for one in first]}
            rest = rng.choice(({}, {"items": False}, {"items": item.schema}, {"minItems": len(first)}))
            return Draft({**schema, **rest}, [one.example for one in first])


def unique(draw: Draw, depth: int) -> Draft:  # noqa: ARG001 - the shape of its neighbours
    """An array whose items differ."""
    draw.kinds.add("uniqueItems")
    kind: dict[str, Any] = draw.one(
        {"type": "integer"}, {"enum": ["a", "b", "c", 1]}, {"type": "boolean"}, {"type": "string"}
    )
    example = {"integer": [1, 2], "boolean": [True, False], "string": ["a", "b"]}.get(kind.get("type", ""), ["a", 1])
    return Draft({"type": "array", "items": kind, "uniqueItems": True, "minItems": draw.rng.randrange(3)}, example)


def thing(draw: Draw, depth: int) -> Draft:
    """An object with properties, some required."""
    draw.kinds.add("object")
    rng = draw.rng
    names = _names(draw, rng.randrange(0, 5))
    drafts = {name: value(draw, depth - 1) for name in names}
    required = [name for name in names if draw.chance(0.5)]
    given = [name for name in names if name in required or draw.chance(0.5)]
    schema: dict[str, Any] = {"type": "object", "properties": {name: draft.schema for name, draft in drafts.items()}}
    example: dict[str, Json] = {name: drafts[name].example for name in given}
    if required or draw.chance(0.3):
        schema["required"] = rng.sample(required, len(required))
    match rng.randrange(8):
        case 0 | 1 | 2:
            schema["additionalProperties"] = False
        case 3:
            draw.kinds.add("additionalProperties")
            extra = value(draw, depth - 1)
            schema["additionalProperties"] = extra.schema
            if "more" not in names:
                example["more"] = extra.example
        case 4:
            draw.kinds.add("properties bounds")
            schema |= draw.one({"minProperties": len(given)}, {"maxProperties": len(given) + 1})
    return Draft(schema, example)


def mapping(draw: Draw, depth: int) -> Draft:
    """An object of any keys, perhaps only of some form."""
    draw.kinds.add("mapping")
    inner = value(draw, depth - 1)
    match draw.rng.randrange(3):
        case 0:
            return Draft({"type": "object", "additionalProperties": inner.schema}, {"k": inner.example})
        case 1:
            keys = {"propertyNames": {"pattern": "^[a-z_]+$"}}
            return Draft({"type": "object", **keys, "additionalProperties": inner.schema}, {"k_k": inner.example})
        case _:
            keyed = {"patternProperties": {"^x-": inner.schema}, "additionalProperties": False}
            return Draft({"type": "object", **keyed}, {"x-1": inner.example})


def alternatives(draw: Draw, depth: int) -> Draft:
    """`anyOf` or `oneOf`."""
    keyword = draw.one("anyOf", "anyOf", "oneOf")
    draw.kinds.add(keyword)
    drafts = [value(draw, depth - 1) for _ in range(draw.rng.randrange(1, 4))]
    if draw.chance(0.4):
        drafts.append(Draft({"type": "null"}, None))
    beside: dict[str, Any] = draw.one({}, {}, {"description": "one of them"}, {"default": None})
    return Draft({keyword: [draft.schema for draft in drafts], **beside}, draw.rng.choice(drafts).example)


def tagged(draw: Draw, depth: int) -> Draft:
    """`oneOf` of objects that a constant tells apart."""
    draw.kinds.add("oneOf")
    options = []
    for tag in draw.rng.sample(("a", "b", "c\n", '"'), draw.rng.randrange(2, 4)):
        inner = value(draw, depth - 1)
        schema = {
            "type": "object",
            "properties": {"kind": {"const": tag}, "value": inner.schema},
            "required": ["kind", "value"],
            "additionalProperties": False,
        }
        options.append(Draft(schema, {"kind": tag, "value": inner.example}))
    return Draft({"oneOf": [option.schema for option in options]}, draw.rng.choice(options).example)


def everything(draw: Draw, depth: int) -> Draft:
    """`allOf`: one schema's clauses, told in two parts, or beside others."""
    draw.kinds.add("allOf")
    match draw.rng.randrange(4):
        case 0:
            whole = text(draw)
            first, rest = {"type": "string"}, {key: part for key, part in whole.schema.items() if key != "type"}
            return Draft({"allOf": [first, rest]}, whole.example)
        case 1:
            low, high = sorted(draw.rng.sample(range(-50, 2000), 2))
            return Draft({"type": "integer", "allOf": [{"minimum": low}, {"maximum": high}]}, low)
        case 2:
            inner = value(draw, depth - 1)
            return Draft({"allOf": [inner.schema]}, inner.example)
        case _:
            one, two = value(draw, depth - 1), value(draw, depth - 1)
            parts = [
                {"type": "object", "properties": {"one": one.schema}, "required": ["one"]},
                {"properties": {"two": two.schema}},
            ]
            return Draft({"allOf": parts}, {"one": one.example, "two": two.example})


def reference(draw: Draw, depth: int) -> Draft:
    """A `$ref` to a definition, perhaps one made earlier, perhaps with clauses beside it."""
    draw.kinds.add("$ref")
    name = draw.one("item", "a/b", "~c", f"n{draw.rng.randrange(1000)}")
    if name not in draw.definitions:
        inner = value(draw, depth - 1)
        draw.definitions.setdefault(name, inner)
    escaped = name.replace("~", "~0").replace("/", "~1")
    beside: dict[str, Any] = draw.one({}, {}, {"description": "see there"}, {"title": "T"})
    return Draft({"$ref": f"#/$defs/{escaped}", **beside}, draw.definitions[name].example)


def recursive(draw: Draw, depth: int) -> Draft:  # noqa: ARG001
    """A schema that holds itself: a list, a tree, a formula."""
    draw.kinds.add("recursive")
    leaf = value(draw, 0)
    name = f"r{len(draw.definitions)}"
    me = {"$ref": f"#/$defs/{name}"}
    link: Any
    example: Json
    match draw.rng.randrange(3):
        case 0:
            link = {"type": "object", "properties": {"head": leaf.schema, "rest": me}, "required": ["head"]}
            example = {"head": leaf.example, "rest": {"head": leaf.example}}
        case 1:
            link = {
                "type": "object",
                "properties": {"at": leaf.schema, "children": {"type": "array", "items": me}},
                "required": ["at", "children"],
                "additionalProperties": False,
            }
            example = {"at": leaf.example, "children": [{"at": leaf.example, "children": []}]}
        case _:
            link = {"anyOf": [leaf.schema, {"type": "array", "items": me, "minItems": 2, "maxItems": 2}]}
            example = [leaf.example, leaf.example]
    draw.definitions[name] = Draft(link, example)
    return Draft(me, example)


def beyond(draw: Draw, depth: int) -> Draft:  # noqa: ARG001
    """Clauses that few decoders know: `not`, `if`, `contains`, dependencies."""
    kind = draw.one("not", "if", "contains", "dependentRequired")
    draw.kinds.add(kind)
    match kind:
        case "not":
            return draw.one(
                Draft({"type": "string", "not": {"enum": ["a", "b"]}}, "c"),
                Draft({"not": {"type": "object"}}, 1),
                Draft({"type": "integer", "not": {"multipleOf": 2}}, 3),
            )
        case "if":
            clauses = {"if": {"properties": {"a": {"const": 1}}}, "then": {"required": ["b"]}}
            return Draft(
                {"type": "object", "properties": {"a": {"enum": [1, 2]}, "b": {"type": "string"}}, **clauses}, {"a": 2}
            )
        case "contains":
            return Draft({"type": "array", "items": {"type": "integer"}, "contains": {"const": 7}}, [1, 7])
        case _:
            properties = {"a": {"type": "integer"}, "b": {"type": "integer"}}
            return Draft({"type": "object", "properties": properties, "dependentRequired": {"a": ["b"]}}, {"b": 1})


def _names(draw: Draw, count: int) -> list[str]:
    pool = [*NAMES, *(name for name in HOSTILE)] if draw.chance(0.4) else list(NAMES[:6])
    return draw.rng.sample(pool, min(count, len(pool)))


_COMPOSED: tuple[Callable[[Draw, int], Draft], ...] = (
    array,
    array,
    array,
    thing,
    thing,
    thing,
    thing,
    mapping,
    alternatives,
    alternatives,
    tagged,
    everything,
    reference,
    reference,
    recursive,
    unique,
    beyond,
)
