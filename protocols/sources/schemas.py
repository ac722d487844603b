"""Converts OpenAPI's dialects of JSON Schema to self-contained JSON Schema 2020-12.

References are followed inside the document only. References to named objects become references
into `$defs`, where the objects keep their names; other references are replaced by their targets.
Keywords that the 2020-12 metaschema rejects are corrected if their meaning is clear (`type: int`),
and dropped if not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import unquote

from jsonschema_rs import meta

from protocols.naming import FreeNames
from protocols.response_examples import examples_beside, find_shown_fields
from protocols.schema import (
    ANNOTATIONS,
    SHOWN_FIELDS,
    Json,
    JsonObject,
    as_mapping,
    items_of_type,
    iter_reference_targets,
    resolve,
)
from protocols.schema_intersection import intersect_schemas
from protocols.sources.document import OpenApiDocument
from protocols.sources.shown_formats import with_shown_formats
from protocols.validate import is_schema

_DEFINITIONS = "#/$defs/"
_ONE = frozenset({
    "additionalProperties", "items", "not", "contains", "propertyNames", "if", "then", "else",
    "unevaluatedItems", "unevaluatedProperties", "contentSchema",
})  # fmt: skip
_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_MAPS = frozenset({"properties", "patternProperties", "dependentSchemas"})
_NESTED = _ONE | _LISTS | _MAPS | {"$ref"}
_PLAIN = frozenset({
    "title", "description", "format", "pattern", "deprecated", "readOnly", "writeOnly",
    "uniqueItems", "enum", "examples", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
    "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "minContains", "maxContains",
    "minProperties", "maxProperties", "contentMediaType", "contentEncoding", "dependentRequired",
    "$comment",
})  # fmt: skip
_TYPES = {
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "str": "string",
    "file": "string",
    "None": "null",
} | {name: name for name in ("string", "number", "integer", "boolean", "object", "array", "null")}
_JOINABLE = ANNOTATIONS | {"type", "properties", "required", "additionalProperties", SHOWN_FIELDS}


class Schemas:
    """Converts the schemas of one document, for either requests or responses.

    `hidden` is the keyword that marks properties to be left out: `readOnly` properties are not part
    of requests, and `writeOnly` properties are not part of responses.
    """

    def __init__(self, document: OpenApiDocument, hidden: Literal["readOnly", "writeOnly"]) -> None:
        self._document = document
        self._hidden = hidden
        self._free = FreeNames()
        self._names: dict[str, str] = {}  # of definitions, keyed by reference
        self._refs: dict[str, str] = {}  # references, keyed by name
        # Keyed by name: the schema (None while it is being converted) and the names that it needs.
        self._made: dict[str, tuple[Any, set[str]]] = {}
        # Keyed by (reference without siblings, True if another schema extends its target).
        self._lone: dict[tuple[str, bool], Any] = {}
        # Keyed by the `id()` of a schema in `_made`: the names that it needs.
        self._needs: dict[int, set[str]] = {}
        # Keyed by name: the definition and all others that it needs.
        self._roots: dict[str, dict[str, Any]] = {}

    def top(self, schema: Json) -> Any:
        """Return a converted schema whose reference at the top level, if any, is resolved.

        The schema true becomes {}, which allows the same values.
        """
        if not isinstance(schema, Mapping):
            return schema and {}
        return resolve(schema, {"$defs": self._definitions(schema)})

    def complete(self, schema: JsonObject) -> dict[str, Any]:
        """Return a converted schema, with the definitions that its references need in `$defs`."""
        needed = self._definitions(schema)
        return {**schema, "$defs": needed} if needed else dict(schema)

    def _definitions(self, schema: JsonObject) -> dict[str, Any]:
        """Return the definitions that the references of a schema need, keyed by name.

        Many tools share the result, so it must not be changed.
        """
        return self._closure(self._definition_names(schema))

    def _closure(self, names: set[str]) -> dict[str, Any]:
        """Return definitions and all others to which they refer, at any depth, keyed by name.

        `names` names the first ones. Definitions that all refer to each other share one result.
        """
        found: dict[str, Any] = {}
        largest: dict[str, Any] = {}
        waiting = {*names}
        while waiting:
            name = next(iter(waiting & self._roots.keys()), None) or next(iter(waiting))
            if known := self._roots.get(name):
                found |= known
                largest = max(largest, known, key=len)
            else:
                found[name], needs = self._definition(name)
                waiting |= needs
            waiting -= found.keys()
        closure = largest if len(found) == len(largest) else dict(sorted(found.items()))
        if len(names) == 1:
            self._roots[next(iter(names))] = closure
        return closure

    def _definition_names(self, schema: Json) -> set[str]:
        """Return the names of the definitions that a schema refers to."""
        if id(schema) in self._needs:
            return self._needs[id(schema)]
        names = {ref.removeprefix(_DEFINITIONS) for ref in iter_reference_targets(schema)}
        return names & self._refs.keys()

    def _definition(self, name: str) -> tuple[Any, set[str]]:
        """Return the converted schema of a definition, and the names of those to which it refers.

        The schema is None while it is being converted.
        """
        if name not in self._made:
            self._made[name] = None, set()
            schema = self.convert(self._document.target(self._refs[name]))
            schema = self._with_marks(schema, self._refs[name])
            if isinstance(schema, dict) and "properties" in schema:
                schema["title"] = name  # the name that its author and its users know
            needs = self._definition_names(schema)
            self._made[name] = schema, needs
            if isinstance(schema, dict):
                self._needs[id(schema)] = needs
        return self._made[name]

    def _with_marks(self, schema: Any, ref: str) -> Any:
        """Return the schema of a subtype with its discriminator limited to the subtype's values.

        The discriminator is the property that tells subtypes apart, such as `type`. `ref` is the
        reference to the schema. A schema that is no such subtype is returned unchanged.
        """
        key, values = self._document.marks.get(ref, ("", []))
        known = as_mapping(as_mapping(as_mapping(schema).get("properties")).get(key))
        if not values or known.get("type") != "string" or {*values} - {*known.get("enum", values)}:
            return schema
        properties = {**schema["properties"], key: {**known, "enum": values}}
        return {**schema, "properties": properties}

    def convert(self, raw: Json, *, base: bool = False) -> Any:
        """Return a schema of the document as JSON Schema 2020-12: true, false or an object.

        The result may refer to definitions, which `complete` adds. `base` is True if another schema
        extends `raw`, so that `raw` does not stand for its subtypes.

        Raises:
            InvalidProtocol: a reference leads out of the document.
        """
        if not isinstance(raw, Mapping):
            return raw if isinstance(raw, bool) else {}
        if isinstance(ref := raw.get("$ref"), str):
            if len(raw) == 1:
                return self._lone_reference(ref, base=base)
            schema = self._reference(
                ref, {key: value for key, value in raw.items() if key != "$ref"}, base=base
            )
        else:
            schema = self._without_hidden(
                self._merge_all_of(self._keywords(raw) | _modernize_schema(raw))
            )
            examples = examples_beside(raw, self._document.content)
            schema = self.with_shown_fields(schema, examples, raw)
        if not isinstance(schema, dict):
            return schema
        if raw.get("nullable") is True or raw.get("x-nullable") is True:
            schema = _make_nullable(schema)
        return with_shown_formats(schema) if self._hidden == "readOnly" else schema

    def with_shown_fields(self, schema: Any, examples: list[Json], raw: Json) -> Any:
        """Return `schema`, converted from `raw`, with fields that only its examples show added.

        These fields of a response are under the key `SHOWN_FIELDS`.
        """
        if not examples or self._hidden != "writeOnly" or not isinstance(schema, dict):
            return schema
        shown = find_shown_fields(examples, raw, self._document.content)
        known = schema.get(SHOWN_FIELDS, {})
        return {**schema, SHOWN_FIELDS: intersect_schemas(known, shown)} if shown else schema

    def _keywords(self, raw: JsonObject) -> dict[str, Any]:
        """Return the keywords of a schema that have the same meaning in JSON Schema 2020-12.

        Schemas inside them are converted. Keywords with invalid values are left out.
        """
        found: dict[str, Any] = {}
        for key, value in raw.items():
            if key in _ONE and isinstance(value, bool | Mapping):
                found[key] = self.convert(value)
            elif key in _LISTS and isinstance(value, list) and value:
                # Documents generated from unions write oneOf for anyOf (integer beside number).
                several = "anyOf" if key == "oneOf" and "anyOf" not in raw else key
                is_base = key == "allOf" and _extends(raw)
                found[several] = [self.convert(part, base=is_base) for part in value]
            elif key in _MAPS and isinstance(value, Mapping):
                found[key] = self._convert_map(key, value)
            elif _is_kept(key, value):
                found[key] = value
        return found

    def _convert_map(self, keyword: str, schemas: JsonObject) -> dict[str, Any]:
        """Return the converted schemas under a keyword such as `properties`, keyed by name.

        Names that the keyword does not allow are left out, such as a pattern that does not compile.
        """
        return {
            str(name): self.convert(schema)
            for name, schema in schemas.items()
            if keyword == "properties" or _is_valid_keyword(keyword, {name: True})
        }

    def _lone_reference(self, ref: str, *, base: bool) -> Any:
        """Return the converted schema for a `$ref` without other keywords beside it.

        All calls with the same arguments share one result.
        """
        key = (ref, base)
        if key not in self._lone:
            self._lone[key] = self._reference(ref, {}, base=base)
        return self._lone[key]

    def _reference(self, ref: str, beside: JsonObject, *, base: bool) -> Any:
        """Return the converted schema for a `$ref`, merged with the keywords `beside` it."""
        target = self._document.target(ref)
        # A schema that another one extends does not stand for its subtypes.
        if not base and (known := self._document.subtypes.get(id(target))):
            return {"anyOf": [self._reference(one, beside, base=True) for one in known]}
        if ref not in self._names:
            name = self._free(
                re.sub(r"[^A-Za-z0-9_.-]+", "_", unquote(ref).rsplit("/", 1)[-1]) or "schema"
            )
            self._names[ref] = name
            self._refs[name] = ref
        name = self._names[ref]
        nested = isinstance(target, Mapping) and target.keys() & _NESTED
        schema = {"$ref": f"{_DEFINITIONS}{name}"} if nested else self._definition(name)[0]
        more = self.convert(
            {key: value for key, value in beside.items() if key not in ("nullable", "x-nullable")}
        )
        return self._merge_all_of({"allOf": [schema], **more}) if more else schema

    def _without_hidden(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return a schema without those properties that do not belong to requests (or responses).

        The document marks them with the keyword `readOnly` (or `writeOnly`).
        """
        properties = schema.get("properties", {})
        shown = {
            name: part
            for name, part in properties.items()
            if not as_mapping(part).get(self._hidden)
        }
        if len(shown) < len(properties):
            schema["properties"] = shown
            if "required" in schema:
                schema["required"] = [
                    name for name in schema["required"] if name in shown or name not in properties
                ]
        return schema

    def _merge_all_of(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return a schema with `allOf` merged into one object schema, if that is possible.

        OpenAPI 3.0 has no other way to describe a reference or to extend an object, so most schemas
        use it. If one part allows no further fields, the result allows none: ASP.NET writes this in
        both the base and its extension.
        """
        parts = schema.get("allOf", [])
        beside = {key: value for key, value in schema.items() if key != "allOf"}
        if len(parts) == 1 and isinstance(parts[0], dict) and beside.keys() <= ANNOTATIONS:
            return {**parts[0], **beside}
        whole = [self._without_lone_reference(part) for part in (*parts, beside)]
        if not parts or not all(map(_is_joinable, whole)):
            return schema
        joined: Any = {}
        for part in whole:
            joined = intersect_schemas(joined, _without_annotations(part))
        annotations = {key: value for key, value in beside.items() if key in ANNOTATIONS}
        return {"type": "object", "properties": {}, **joined, **annotations}

    def _without_lone_reference(self, schema: Any) -> Any:
        """Return a schema, or, if it is nothing but a `$ref`, the definition to which it refers."""
        if as_mapping(schema).keys() == {"$ref"}:
            return self._definition(schema["$ref"].removeprefix(_DEFINITIONS))[0]
        return schema


def _modernize_schema(raw: JsonObject) -> dict[str, Any]:
    """Return those keywords of a schema that older dialects write in another way, modernized.

    For example, `example` becomes `examples`.
    """
    found: dict[str, Any] = {}
    named = raw["type"] if isinstance(raw.get("type"), list) else [raw.get("type", "")]
    kinds = [_TYPES[str(name)] for name in named if str(name) in _TYPES]
    if kinds:
        found["type"] = kinds[0] if len(kinds) == 1 else kinds
    values = raw.get("enum")
    if isinstance(values, list) and "string" in kinds and {*kinds} <= {"string", "null"}:
        # Unquoted YAML values are numbers or booleans.
        found["enum"] = [json.dumps(one) if isinstance(one, int | float) else one for one in values]
    if raw.get("type") == "file":
        found["format"] = "binary"
    example = raw.get("example", {})
    if "examples" not in raw and not isinstance(example, Mapping | list):
        found["examples"] = [example]
    names = raw.get("required")
    if isinstance(names, list):
        found["required"] = list(dict.fromkeys(items_of_type(names, str)))
    return found


def _extends(schema: JsonObject) -> bool:
    """Return True if a schema uses `allOf` to extend other schemas.

    A schema may also use it only to refer to one.
    """
    return len(schema["allOf"]) > 1 or "properties" in schema


def _is_joinable(schema: Any) -> bool:
    """Return True for a plain object schema, which can be merged with others like it."""
    if not isinstance(schema, dict) or not schema.keys() <= _JOINABLE:
        return False
    further = schema.get("additionalProperties", True)
    return schema.get("type", "object") == "object" and isinstance(further, bool)


def _without_annotations(schema: JsonObject) -> JsonObject:
    """Return a schema without titles, descriptions and other annotations."""
    return {key: value for key, value in schema.items() if key not in ANNOTATIONS}


def _is_kept(keyword: str, value: Json) -> bool:
    """Return True if a keyword of a schema can be kept unchanged, because it contains no schemas.

    Its value must be valid.
    """
    if keyword in ("default", "const") or keyword.startswith("x-atc-"):
        is_plain = is_schema(value) and not iter_reference_targets(value)
        return is_plain or keyword != SHOWN_FIELDS
    return keyword in _PLAIN and _is_valid_keyword(keyword, value)


def _make_nullable(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that allows null in addition to what `schema` allows."""
    if "type" not in schema:
        # 3.0 ignores `nullable` without a type, but most documents use it with `$ref` or `allOf`.
        open_to_null = not schema.keys() & {
            "$ref",
            "allOf",
            "anyOf",
            "oneOf",
            "enum",
            "const",
            "properties",
        }
        marks: dict[str, Any] = {
            key: schema[key] for key in ("readOnly", "writeOnly") if key in schema
        }
        return schema if open_to_null else {**marks, "anyOf": [schema, {"type": "null"}]}
    kinds = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    changed = schema | {"type": [*kinds, "null"] if "null" not in kinds else kinds}
    if "enum" in schema and None not in schema["enum"]:
        changed["enum"] = [*schema["enum"], None]
    return changed


def _is_valid_keyword(keyword: str, value: Json) -> bool:
    """Return True if `value` is valid for a keyword of JSON Schema.

    For example, a pattern must compile.
    """
    schema = {keyword: value}
    return (
        is_schema(schema) if keyword in ("pattern", "patternProperties") else meta.is_valid(schema)
    )
