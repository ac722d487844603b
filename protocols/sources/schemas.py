"""OpenAPI's dialects of JSON Schema → self-contained JSON Schema 2020-12, leniently, without touching the network.

References are followed inside the document. Named objects stay references into `$defs` and keep their names; what else
is referred to is written out in place. Keywords that the 2020-12 metaschema refuses are repaired where the meaning is
plain (`type: int`) and dropped where it is not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote

from protocols.alias import FreeNames
from protocols.errors import InvalidProtocol
from protocols.jsontypes import Json, JsonObject, dumps
from protocols.schema import ANNOTATIONS, compiles, narrowed, pointer, references, resolve

Direction = Literal["request", "response"]

_ONE = frozenset({
    "additionalProperties", "items", "not", "contains", "propertyNames", "if", "then", "else", "unevaluatedItems",
    "unevaluatedProperties", "contentSchema",
})  # fmt: skip
_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_MAPS = frozenset({"properties", "patternProperties", "dependentSchemas"})
_PLAIN = frozenset({
    "title", "description", "format", "pattern", "deprecated", "readOnly", "writeOnly", "uniqueItems", "enum",
    "examples", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
    "minItems", "maxItems", "minContains", "maxContains", "minProperties", "maxProperties", "contentMediaType",
    "contentEncoding", "dependentRequired", "$comment",
})  # fmt: skip
_TYPES = {"int": "integer", "float": "number", "bool": "boolean", "str": "string", "file": "string", "None": "null"}
_JOINABLE = ANNOTATIONS | {"type", "properties", "required"}
_NESTED = _ONE | _LISTS | _MAPS | {"$ref"}
_JSON_TYPES = ("string", "number", "integer", "boolean", "object", "array", "null")


class Converted(NamedTuple):
    """A schema, and the definitions by name that its references (`#/$defs/name`) need."""

    schema: Any
    definitions: dict[str, Any]


class Schemas:
    """The schemas and references of one OpenAPI or Swagger document; `where` names it in messages."""

    def __init__(self, document: JsonObject, *, where: str) -> None:
        self._document, self._where = document, where
        self._names: dict[str, str] = {}
        self._refs: dict[str, str] = {}
        self._free = FreeNames()
        self._done: dict[tuple[str, Direction], Any] = {}
        self._needs: dict[tuple[str, Direction], frozenset[str]] = {}

    def convert(self, raw: Json, direction: Direction, *, at: str) -> Converted:
        """`raw` as 2020-12. `at` names the operation in messages; a *request* has no read-only properties.

        Raises:
            InvalidProtocol: a reference leads nowhere or out of the document.
        """
        self._at = at
        schema = self._schema(raw, direction)
        return Converted(schema, self._needed(schema, direction))

    def self_contained(self, raw: Json, direction: Direction, *, at: str) -> dict[str, Any]:
        """`convert`, as one schema that brings its own `$defs`; its top is no reference."""
        schema, definitions = self.convert(raw, direction, at=at)
        schema = resolve(schema, {"$defs": definitions}) if isinstance(schema, Mapping) else schema
        whole = dict(schema) if isinstance(schema, Mapping) else {} if schema else {"not": {}}
        needed = self._needed(whole, direction)
        return whole | ({"$defs": needed} if needed else {})

    def _needed(self, schema: Json, direction: Direction) -> dict[str, Any]:
        """The definitions that a schema needs, directly or not, by name."""
        waiting, found = list(references(schema)), dict[str, Any]()
        while waiting:
            name = waiting.pop().removeprefix("#/$defs/")
            if name not in found and name in self._refs:
                ref = self._refs[name]
                found[name] = self._definition(ref, direction)
                waiting.extend(self._needs[ref, direction])
        return dict(sorted(found.items()))

    def follow(self, value: Json, *, at: str) -> Json:
        """The parameter, response or path item that `value` is or refers to."""
        self._at = at
        seen: set[str] = set()
        while isinstance(value, Mapping) and isinstance(ref := value.get("$ref"), str):
            if ref in seen:
                raise self._broken(ref, "which refers to itself")
            seen.add(ref)
            value = self._target(ref)
        return value

    def _target(self, ref: str) -> Any:
        if not ref.startswith("#"):
            raise InvalidProtocol(
                self._where,
                f"{self._at} needs {ref!r}, which lies outside the document; references are not fetched.",
                path="$ref",
                hint="Bundle the document into one file first, for example with 'npx @redocly/cli bundle'.",
            )
        target = pointer(self._document, ref)
        if target is None:
            target = pointer(self._document, unquote(ref))
        if target is None:
            raise self._broken(ref, "which leads nowhere")
        return target

    def _broken(self, ref: str, problem: str) -> InvalidProtocol:
        return InvalidProtocol(
            self._where,
            f"{self._at} needs {ref!r}, {problem}.",
            path="$ref",
            hint="Correct the reference, or delete that operation from a copy of the document.",
        )

    def _name(self, ref: str) -> str:
        if ref not in self._names:
            name = self._free(re.sub(r"[^A-Za-z0-9_.-]+", "_", unquote(ref).rsplit("/", 1)[-1]) or "schema")
            self._names[ref], self._refs[name] = name, ref
        return self._names[ref]

    def _definition(self, ref: str, direction: Direction) -> Any:
        """What a reference means; None while that is being made."""
        key = (ref, direction)
        if key not in self._done:
            self._done[key] = None
            made = self._schema(self._target(ref), direction)
            if isinstance(made, dict) and "properties" in made:
                made["title"] = self._name(ref)  # the name under which its author and its users know it
            self._done[key], self._needs[key] = made, frozenset(references(made))
        return self._done[key]

    def _schema(self, raw: Json, direction: Direction) -> Any:
        if raw is True or raw is False:
            return raw
        if not isinstance(raw, Mapping):
            return {}
        if isinstance(ref := raw.get("$ref"), str):
            return self._reference(ref, raw, direction)
        schema: dict[str, Any] = {}
        for key, value in raw.items():
            if key in _ONE and isinstance(value, bool | Mapping):
                schema[key] = self._schema(value, direction)
            elif key in _LISTS and isinstance(value, list) and value:
                schema[key] = [self._schema(v, direction) for v in value]
            elif key in _MAPS and isinstance(value, Mapping):
                schema[key] = {str(k): self._schema(v, direction) for k, v in value.items()}
            elif key in ("default", "const") or key.startswith("x-atc-") or (key in _PLAIN and _accepted(key, value)):
                schema[key] = value
        return self._modern(schema, raw, direction)

    def _reference(self, ref: str, raw: JsonObject, direction: Direction) -> Any:
        beside = {k: v for k, v in raw.items() if k != "$ref"}
        siblings = self._schema(beside, direction) if beside else None
        raw_target = self._target(ref)
        plain = not isinstance(raw_target, Mapping) or not raw_target.keys() & _NESTED
        target = self._definition(ref, direction) if plain else {"$ref": f"#/$defs/{self._name(ref)}"}
        if siblings and not (isinstance(target, Mapping) and siblings.keys() <= ANNOTATIONS):
            target = self._joined({"allOf": [target], **siblings}, direction)
        elif siblings:
            target = {**target, **siblings}
        return _nullable(target) if _says_nullable(raw) and isinstance(target, dict) else target

    def _modern(self, schema: dict[str, Any], raw: JsonObject, direction: Direction) -> dict[str, Any]:
        """What the older dialects wrote in other ways."""
        if not _accepted("patternProperties", dict.fromkeys(schema.get("patternProperties", ()), True)):
            del schema["patternProperties"]
        named = raw["type"] if isinstance(raw.get("type"), list) else [raw.get("type", "")]
        if kinds := [_TYPES.get(str(name), name) for name in named if _TYPES.get(str(name), name) in _JSON_TYPES]:
            schema["type"] = kinds[0] if len(kinds) == 1 else kinds
        if raw.get("type") == "file":
            schema["format"] = "binary"
        if "example" in raw and "examples" not in schema and not isinstance(raw["example"], Mapping | list):
            schema["examples"] = [raw["example"]]
        if isinstance(names := raw.get("required"), list):
            schema["required"] = list(dict.fromkeys(name for name in names if isinstance(name, str)))
        schema = self._joined(schema, direction)
        # A client does not send what is read-only, nor gets what is write-only.
        mark = "readOnly" if direction == "request" else "writeOnly"
        properties = schema.get("properties", {})
        hidden = {name for name, part in properties.items() if isinstance(part, Mapping) and part.get(mark) is True}
        if hidden:
            schema["properties"] = {name: part for name, part in properties.items() if name not in hidden}
            if "required" in schema:
                schema["required"] = [name for name in schema["required"] if name not in hidden]
        return _nullable(schema) if _says_nullable(raw) else schema

    def _joined(self, schema: dict[str, Any], direction: Direction) -> dict[str, Any]:
        """`allOf` of what can be said in one schema as that schema: each part narrows the others, in any order.

        3.0 has no other way to describe a reference, or to extend an object, so this is how most shapes are written.
        """
        parts = schema.get("allOf", [])
        beside = {key: value for key, value in schema.items() if key != "allOf"}
        if len(parts) == 1 and isinstance(parts[0], dict) and beside.keys() <= ANNOTATIONS:
            return {**parts[0], **beside}
        resolved = [
            self._definition(self._refs[part["$ref"].removeprefix("#/$defs/")], direction)
            if isinstance(part, dict) and part.keys() == {"$ref"}
            else part
            for part in parts
        ]
        plain = (isinstance(part, dict) and part.keys() <= _JOINABLE for part in (*resolved, beside))
        if not parts or not all(plain) or any(part.get("type", "object") != "object" for part in (*resolved, beside)):
            return schema
        joined: Any = {}
        for part in (*resolved, beside):
            joined = narrowed(joined, {key: value for key, value in part.items() if key not in ANNOTATIONS})
        return {"type": "object", "properties": {}, **joined, **{k: v for k, v in beside.items() if k in ANNOTATIONS}}


def _says_nullable(raw: JsonObject) -> bool:
    return raw.get("nullable") is True or raw.get("x-nullable") is True


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    """`schema`, and null."""
    if "type" not in schema:
        # 3.0 says that `nullable` without a type means nothing; everybody writes it beside `$ref` and `allOf`.
        open_to_null = not schema.keys() & {"$ref", "allOf", "anyOf", "oneOf", "enum", "const", "properties"}
        return schema if open_to_null else {"anyOf": [schema, {"type": "null"}]}
    kinds = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    changed = schema | {"type": [*kinds, "null"] if "null" not in kinds else kinds}
    if "enum" in schema and None not in schema["enum"]:
        changed["enum"] = [*schema["enum"], None]
    return changed


def _accepted(keyword: str, value: Json) -> bool:
    """Whether the metaschema allows `value` there: patterns that compile, numbers that are numbers."""
    return _compiles(dumps({keyword: value}))


@lru_cache(maxsize=4096)
def _compiles(schema: str) -> bool:
    return compiles(json.loads(schema))
