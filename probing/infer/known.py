"""A known document of a response, read place by place: what it allows stays allowed; silence is no permission."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from protocols.jsontypes import Json, JsonObject
from protocols.schema import resolve, type_name, types, validator

_FACETS: Mapping[str, tuple[str, ...]] = {
    "string": ("minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format"),
    "array": ("minItems", "maxItems", "uniqueItems"),
    "object": ("minProperties", "maxProperties", "propertyNames"),
}
_PARTS: Mapping[str, tuple[str, ...]] = {
    "array": ("items",),
    "object": ("properties", "required", "additionalProperties"),
}
_READ = {"type", "enum", "const"}.union(*_FACETS.values(), *_PARTS.values())
_ASSERTING = _READ | {
    "$ref", "$dynamicRef", "allOf", "anyOf", "contains", "dependentRequired", "dependentSchemas", "else", "if",
    "maxContains", "minContains", "not", "oneOf", "patternProperties", "prefixItems", "then", "unevaluatedItems",
    "unevaluatedProperties",
}  # fmt: skip
ONLY_NULL: JsonObject = {"examples": [None]}
"""What is said of a field that was only ever null: null may come, and nothing is known of its type."""

_NUMERIC = {"int32", "int64", "float", "double"}
_STRUCTURE = {"$defs", "definitions", "$id", "$schema", "$anchor", "$comment"}


@dataclass(frozen=True, eq=False)
class Known:
    """What a document says of one place: `schema`, its leading reference followed, within the document `root`.

    A place of which it says nothing (`{}`, `true`, an open object's further keys) has no `Known`.
    """

    schema: JsonObject
    root: JsonObject
    reference: str = ""
    """The reference that led here: `#/$defs/node`."""
    only_null: bool = False
    """Whether it says no more than `ONLY_NULL`."""

    @classmethod
    def of(cls, schema: Any, root: JsonObject) -> Known | None:
        """What `schema`, a part of `root`, says; None where it says nothing."""
        if not isinstance(schema, Mapping):
            return None
        reference = schema.get("$ref", "")
        found = _without_null_branch(resolve(schema, root), root)
        if not found.keys() & _ASSERTING:
            return cls({"type": "null"}, root, only_null=True) if found == ONLY_NULL else None
        return cls(found, root, reference if isinstance(reference, str) else "")

    @cached_property
    def opaque(self) -> bool:
        """Whether it says more than can be merged place by place; then it is kept or dropped whole."""
        asserting = self.schema.keys() & _ASSERTING
        if not asserting <= _READ or (not self.types and self.values is None):
            return True
        return isinstance(self.schema.get("items"), list) or not isinstance(self.schema.get("properties", {}), Mapping)

    @cached_property
    def types(self) -> frozenset[str]:
        """The JSON types that it allows."""
        return frozenset(types(self.schema))

    @property
    def values(self) -> tuple[Json, ...] | None:
        """The values to which it is restricted (`enum`, `const`), if it is."""
        if "const" in self.schema:
            return (self.schema["const"],)
        return tuple(self.schema["enum"]) if isinstance(self.schema.get("enum"), list | tuple) else None

    @property
    def annotations(self) -> dict[str, Any]:
        """Its keywords that restrict nothing: descriptions, marks."""
        return {key: value for key, value in self.schema.items() if key not in _ASSERTING and key not in _STRUCTURE}

    def allows(self, name: str) -> bool:
        """Whether values of a JSON type may conform."""
        return name in self.types or (name == "number" and "integer" in self.types)

    def facets(self, name: str) -> dict[str, Any]:
        """Its keywords that restrict values of one type by themselves, not their parts."""
        found = {key: self.schema[key] for key in _FACETS.get(name, ()) if key in self.schema}
        if name == "number" and found.get("format") not in _NUMERIC:
            found.pop("format", None)
        return found

    def part(self, name: str) -> dict[str, Any]:
        """What it says of one type alone."""
        kept_keys = (*_FACETS.get(name, ()), *_PARTS.get(name, ()))
        kind = "integer" if name == "number" and "number" not in self.types else name
        return {"type": kind} | {key: self.schema[key] for key in kept_keys if key in self.schema}

    @property
    def properties(self) -> Mapping[str, Any]:
        """The properties that it names."""
        found: Mapping[str, Any] = self.schema.get("properties", {})
        return found

    def property(self, key: str) -> Known | None:
        """What it says of a property."""
        return Known.of(self.properties[key], self.root) if key in self.properties else None

    @cached_property
    def rest(self) -> Known | None:
        """What it says of the properties that it does not name."""
        return Known.of(self.schema.get("additionalProperties"), self.root)

    @cached_property
    def items(self) -> Known | None:
        """What it says of elements."""
        return Known.of(self.schema.get("items"), self.root)

    def widened(self, values: Iterable[Json]) -> Known:
        """The document after `values` broke its enum: a few words are added to the enum, else it is dropped."""
        listed = self.values
        if listed is None:
            return self
        fresh = {value for value in values if isinstance(value, str) and value not in listed}
        strange = any(not isinstance(value, str) and value not in listed for value in values)
        plain = {key: value for key, value in self.schema.items() if key not in ("enum", "const")}
        allowed = {*self.types, *map(type_name, listed)}
        plain["type"] = sorted(allowed) if len(allowed) > 1 else allowed.pop()
        if not strange and len(fresh) <= len(listed) and all(isinstance(value, str | None) for value in listed):
            plain["enum"] = [*listed, *sorted(fresh)]
        return replace(self, schema=plain, reference="")


def readable(document: JsonObject) -> bool:
    """Whether a validator can read a document; one that it cannot read is taken for none."""
    try:
        validator(document)
    except ValueError:
        return False
    return True


def kept(facets: Mapping[str, Any], values: Iterable[Json]) -> dict[str, Any]:
    """Those keywords that no value breaks."""
    seen = list(values)
    return {key: value for key, value in facets.items() if conform({key: value}, seen)}


def conform(schema: JsonObject, values: Iterable[Json]) -> bool:
    """Whether all values conform; what no validator can read (half a surrogate pair) does not."""
    try:
        return all(map(validator(schema).is_valid, values))
    except ValueError:
        return False


def _without_null_branch(schema: JsonObject, root: JsonObject) -> JsonObject:
    """`anyOf: [X, null]` as X with null among its types, where X names its types."""
    for union in ("anyOf", "oneOf"):
        branches = schema.get(union)
        if not isinstance(branches, list) or len(branches) != 2 or {"type": "null"} not in branches:
            continue
        inner = resolve(branches[0] if branches[1] == {"type": "null"} else branches[1], root)
        around = {key: value for key, value in schema.items() if key != union}
        if types(inner) and not inner.keys() & {"enum", "const", "$ref"} and not around.keys() & _ASSERTING:
            return {**inner, **around, "type": [*types(inner), "null"]}
    return schema
