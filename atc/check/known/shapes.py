"""Types from JSON Schemas, unfolded one level at a time so that recursive schemas stay finite."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from atc.check.known import forms
from atc.check.known.kinds import ANY, BOOL, INT, NUMBER, STR, Array, Atom, Null, Origin, Record, Type
from atc.check.known.lattice import MOST_VALUES, join
from protocols.jsontypes import JsonObject
from protocols.schema import pointer, resolve, types
from protocols.toolbox import Tool

_MOST_BRANCHES = 12
_COMBINERS = ("allOf", "anyOf", "oneOf")
_OPENERS = ("patternProperties", "if", "dependentSchemas", "$dynamicRef", "$recursiveRef")
_SILENT = {"title", "description", "default", "example", "examples", "deprecated", "readOnly", "writeOnly", "required"}
_MORE = ("additionalProperties", "unevaluatedProperties")

Fragments = list[JsonObject]


@dataclass(eq=False)
class Document:
    """One response schema and how far it is believed.

    `strict` (a declared schema) means that its objects have no other keys than it names, unless it says so.
    """

    root: JsonObject
    strict: bool
    objects: dict[tuple[int, ...], ObjectShape] = field(default_factory=dict)
    arrays: dict[tuple[int, ...], ArrayShape] = field(default_factory=dict)
    branches: dict[int, tuple[Any, list[Fragments] | None]] = field(default_factory=dict)
    """By the identity of a schema, beside the schema itself, which must live as long as its identity is used."""
    types: dict[tuple[int, Origin], Type] = field(default_factory=dict)
    """By the identity of a schema and where it stands."""


@dataclass(eq=False)
class ObjectShape:
    """The keys of an object. `more` is the schema of the keys that are not named, False where there can be none."""

    document: Document
    properties: Mapping[str, Any]
    more: Any
    filled: bool = False
    """Whether some key is always there, so that the object is never false."""
    required: frozenset[str] = frozenset()
    """The keys that are always there."""

    @property
    def closed(self) -> bool:
        """Whether a key that is not in `properties` cannot be there."""
        return self.more is False


@dataclass(eq=False)
class ArrayShape:
    """The items of an array."""

    document: Document
    items: Any


def result_type(tool: Tool, document: Document) -> Type:
    """What a call of `tool` gives to the program."""
    origin = Origin(tool.alias)
    if tool.wrapper is None:
        return convert(document.root, document, origin)
    return convert(resolve(document.root, document.root)["properties"][tool.wrapper], document, origin)


_known: dict[int, tuple[weakref.ref[Tool], Document | None]] = {}
"""By the identity of a tool, for as long as it lives: most programs are checked against tools that were seen before."""


def response_document(tool: Tool) -> Document | None:
    """The response schema of `tool` where it can be believed: not where it is missing or only guessed."""
    known = _known.get(id(tool))
    if known is not None and known[0]() is tool:
        return known[1]
    document, identity = _read_document(tool), id(tool)
    _known[identity] = weakref.ref(tool, lambda _: _forget(identity)), document
    return document


def _forget(identity: int) -> None:
    _known.pop(identity, None)


def _read_document(tool: Tool) -> Document | None:
    schema, level = tool.protocol.output_schema, tool.protocol.evidence.level
    if not isinstance(schema, Mapping) or level == "guessed":
        return None
    return Document(schema, strict=level == "declared")


def convert(schema: Any, document: Document, origin: Origin) -> Type:
    """The type of a value that conforms to `schema`."""
    done = document.types.get((id(schema), origin))
    if done is not None:
        return done
    known = document.branches.get(id(schema))
    if known is None:
        known = document.branches[id(schema)] = (schema, _branches(schema, document, 0))
    branches = known[1]
    document.types[id(schema), origin] = result = ANY if branches is None else _union(branches, document, origin)
    return result


def _union(branches: list[Fragments], document: Document, origin: Origin) -> Type:
    return join(*(_conjunction(fragments, document, origin) for fragments in branches))


def _branches(schema: Any, document: Document, depth: int) -> list[Fragments] | None:
    """The schema as alternatives, each a list of fragments that hold together; None where it says nothing sure."""
    if not isinstance(schema, Mapping) or depth > 8:
        return None
    if _dangling(schema, document.root):
        return None
    resolved = resolve(schema, document.root)
    if not any(key in resolved for key in _COMBINERS):
        return [[resolved]]
    base = {key: value for key, value in resolved.items() if key not in _COMBINERS}
    result: list[Fragments] = [[base]]
    for part in resolved.get("allOf") or ():
        result = _product(result, _branches(part, document, depth + 1))
    for key in ("anyOf", "oneOf"):
        if resolved.get(key):
            options: list[Fragments] = []
            for part in resolved[key]:
                inner = _branches(part, document, depth + 1)
                if inner is None:
                    return None
                options += inner
            result = _product(result, options)
        if not result or len(result) > _MOST_BRANCHES:
            return None
    return result or None


def _product(left: list[Fragments], right: list[Fragments] | None) -> list[Fragments]:
    if right is None or len(left) * len(right) > _MOST_BRANCHES:
        return []
    return [[*a, *b] for a in left for b in right]


def _dangling(schema: JsonObject, root: JsonObject) -> bool:
    ref = schema.get("$ref")
    return isinstance(ref, str) and not isinstance(pointer(root, ref), Mapping)


def _conjunction(fragments: Fragments, document: Document, origin: Origin) -> Type:
    fragments = [part for part in fragments if not part.keys() <= _SILENT]
    possible: set[str] | None = None
    for part in fragments:
        named = set(types(part))
        if not named:
            continue
        if "number" in named:
            named.add("integer")
        possible = named if possible is None else possible & named
    if not possible:
        return ANY
    if "number" in possible:
        possible.discard("integer")
    if any(part.get("nullable") is True or None in _values(part, [0]) for part in fragments):
        possible.add("null")
    return join(*(_one(name, fragments, document, origin) for name in sorted(possible)))


def _values(part: JsonObject, absent: list[Any]) -> list[Any]:
    if "const" in part:
        return [part["const"]]
    listed = part.get("enum")
    return list(listed) if isinstance(listed, list | tuple) else absent


def _one(name: str, fragments: Fragments, document: Document, origin: Origin) -> Type:
    match name:
        case "string":
            return _text(fragments) if document.strict else STR
        case "integer":
            # Observed integers may be numbers that happened to be whole.
            return INT if document.strict else NUMBER
        case "number":
            return NUMBER
        case "boolean":
            return BOOL
        case "null":
            return Null(origin)
        case "object":
            return Record(_object(fragments, document), origin)
        case "array":
            return Array(_array(fragments, document), origin)
        case _:
            return ANY


def _text(fragments: Fragments) -> Type:
    for part in fragments:
        values = [value for value in _values(part, []) if isinstance(value, str)]
        if values and len(values) <= MOST_VALUES:
            return Atom("str", tuple(values), listed=True)
    patterns = [part["pattern"] for part in fragments if isinstance(part.get("pattern"), str)]
    if not patterns:
        formats = {part["format"] for part in fragments if isinstance(part.get("format"), str)}
        patterns = [known] if len(formats) == 1 and (known := forms.of_format(formats.pop())) else []
    return Atom("str", pattern=patterns[0]) if len(patterns) == 1 else STR


def _object(fragments: Fragments, document: Document) -> ObjectShape:
    key = tuple(map(id, fragments))
    if key in document.objects:
        return document.objects[key]
    properties: dict[str, Any] = {}
    for part in fragments:
        for name, schema in (part.get("properties") or {}).items():
            if name in properties and properties[name] is not schema:
                schema = {"allOf": [properties[name], schema]}
            properties[name] = schema
    shape = ObjectShape(document, properties, _more(fragments, properties, document))
    if document.strict:
        shape.required = frozenset(key for part in fragments for key in part.get("required") or () if key in properties)
    shape.filled = document.strict and any(part.get("required") for part in fragments)
    document.objects[key] = shape
    return shape


def _more(fragments: Fragments, properties: Mapping[str, Any], document: Document) -> Any:
    """The schema of further keys: `{}` where anything may come, False where nothing may."""
    if any(key in part for part in fragments for key in _OPENERS):
        return {}
    declared = [part[key] for part in fragments for key in _MORE if key in part and part[key] is not False]
    if declared:
        return declared[0] if len(declared) == 1 and isinstance(declared[0], Mapping) else {}
    return False if document.strict and properties else {}


def _array(fragments: Fragments, document: Document) -> ArrayShape:
    key = tuple(map(id, fragments))
    if key not in document.arrays:
        sure = [part for part in fragments if "items" in part or "prefixItems" in part]
        items = sure[0].get("items", {}) if len(sure) == 1 and "prefixItems" not in sure[0] else {}
        document.arrays[key] = ArrayShape(document, items)
    return document.arrays[key]
