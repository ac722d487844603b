"""Converts JSON Schemas to bounded ones: llguidance can compile them, and every value is finite.

llguidance's `%json` enforces most of JSON Schema, but it allows numbers that overflow and strings
of any length, and it refuses schemas with keywords that it does not know. So references are
resolved, missing bounds are added, and clauses that cannot be enforced are dropped and recorded as
`unenforced`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from atc.models.decode.value_schemas import (
    FEWEST_CHARACTERS,
    MOST_KEYS,
    Impossible,
    any_value_schema,
    have_distinct_types,
    number_schema,
    open_object,
    read_count,
)
from protocols.schema import resolve_pointer, types
from protocols.validate import validator

_ENFORCED_WORDS = """
type enum const properties required additionalProperties items minItems maxItems minLength maxLength
pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf anyOf oneOf allOf $ref
"""
_UNENFORCED_WORDS = """
not if then else uniqueItems contains minContains maxContains propertyNames patternProperties
minProperties maxProperties prefixItems dependentRequired dependentSchemas dependencies
unevaluatedItems unevaluatedProperties $dynamicRef
"""
ENFORCED = frozenset(_ENFORCED_WORDS.split())
"""Keywords that the bounded schema enforces."""
UNENFORCED = frozenset(_UNENFORCED_WORDS.split())
"""Keywords that restrict values, but that the bounded schema does not enforce."""
_FORMATS = (
    "date",
    "time",
    "date-time",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uuid",
    "uri",
)
_TYPES = ("string", "number", "boolean", "null", "array", "object")
_ASCII = {"d": "0-9", "w": "A-Za-z0-9_", "s": r" \t\n\r\f\v"}
_FORMAT_CHARACTERS = 120
"""A string with a format, such as `uri`, may always have at least this many characters."""
_MOST_CHARACTERS = 100_000
_OPTIONS = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Default limits of the values that a model writes.

    If a schema sets a lower limit, the schema's limit applies. If a schema sets a higher limit, the
    default still applies, unless the schema demands larger values, for example with a large
    `minLength`.
    """

    characters: int = 400
    """Maximum number of characters of one string."""
    call_characters: int = 1600
    """Maximum number of characters of all strings of one call together, so that a call fits a
    model's usual token limit.
    """
    items: int = 20
    """Maximum number of items of one array."""
    depth: int = 4
    """How often a recursive schema may be nested within itself."""


BOUNDS = Bounds()


def json_text(schema: Mapping[str, Any]) -> str:
    """Return the schema as text for llguidance's `%json`.

    The text includes options for `%json`. They require one space after commas and colons, as
    `json.dumps` writes JSON.
    """
    return json.dumps({"x-guidance": _OPTIONS, **schema}, ensure_ascii=False)


@dataclass
class SchemaBounder:
    """Converts the schema of one argument to a bounded schema, whose values have a limited size.

    `root` is the schema in which references (`$ref`) are looked up. `unenforced` are JSON pointers
    to the clauses that the bounded schema does not enforce.
    """

    root: Mapping[str, Any]
    bounds: Bounds
    unenforced: list[str] = field(default_factory=list)

    def value(
        self, schema: Any, room: int, place: str, seen: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        """Return the bounded form of a schema, in which every value has a limited size.

        Values that conform to it conform to `schema`, too, except for clauses that are recorded in
        `unenforced`. `room` is the maximum number of characters of a value, `place` the JSON
        pointer of the schema, and `seen` the references that were followed to reach it.

        Raises:
            Impossible: no value conforms.
        """
        if schema is False:
            raise Impossible("the schema allows no value")
        if not isinstance(schema, Mapping):
            return any_value_schema(room)
        schema, seen = self.resolve_reference(schema, seen)
        self.unenforced += [f"{place}/{key}" for key in sorted(UNENFORCED & schema.keys())]
        schema, seen = self._merge_all_of(schema, place, seen)
        if "enum" in schema or "const" in schema:
            return {"enum": self._list_alternatives(schema)}
        for key in ("anyOf", "oneOf"):
            if isinstance(schema.get(key), list):
                return self._any_of(schema, key, room, place, seen)
        kinds = types(schema) or _TYPES
        if not ENFORCED & schema.keys() - {"type"} and set(kinds) == set(_TYPES):
            return any_value_schema(room)
        return self._first([(kind, schema, place) for kind in kinds], room, seen)

    def _merge_all_of(
        self, schema: Mapping[str, Any], place: str, seen: tuple[str, ...]
    ) -> tuple[Mapping[str, Any], tuple[str, ...]]:
        """Return the schema with the parts of its `allOf` merged into it.

        The second result is `seen`, the references that were followed so far, with those of the
        parts.
        """
        for number, part in enumerate(schema.get("allOf", ())):
            part, seen = self.resolve_reference(part if isinstance(part, Mapping) else {}, seen)
            is_last = number + 1 >= len(schema.get("allOf", ()))
            rest = {key: one for key, one in schema.items() if not (key == "allOf" and is_last)}
            schema = self._merge(rest, part, f"{place}/allOf/{number}")
        return schema, seen

    def _first(
        self, tried: Sequence[tuple[str, Mapping[str, Any], str]], room: int, seen: tuple[str, ...]
    ) -> dict[str, Any]:
        """Return a bounded schema that allows any of the alternatives `tried`.

        Each alternative is a tuple of a type (or "" for any), a schema and its JSON pointer. An
        alternative that no value can satisfy is left out. `room` and `seen` are those of `value`.

        Raises:
            Impossible: no value satisfies any of them.
        """
        options: list[dict[str, Any]] = []
        why = Impossible("the schema names no type")
        for kind, schema, place in tried:
            try:
                of_kind = (
                    self._of_type(kind, schema, room, place, seen)
                    if kind
                    else self.value(schema, room, place, seen)
                )
                options.append(of_kind)
            except Impossible as error:
                why = error
        if not options:
            raise why
        return options[0] if len(options) == 1 else {"anyOf": options}

    def resolve_reference(
        self, schema: Mapping[str, Any], seen: tuple[str, ...]
    ) -> tuple[Mapping[str, Any], tuple[str, ...]]:
        """Return the schema that `schema` refers to with `$ref`, else `schema` itself.

        Keywords next to the reference are added to the result. The second result is `seen`, the
        references that were followed so far, with the new ones.
        """
        while isinstance(ref := schema.get("$ref"), str):
            seen = (*seen, ref)
            if seen.count(ref) > self.bounds.depth:
                raise Impossible("what conforms is nested without end")
            target = resolve_pointer(self.root, ref)
            siblings = {key: part for key, part in schema.items() if key != "$ref"}
            if target is None:
                self.unenforced.append(f"$ref {ref}")
            if target is False:
                raise Impossible("the schema allows no value")
            schema = {**target, **siblings} if isinstance(target, Mapping) else siblings
        return schema, seen

    def _merge(
        self, one: Mapping[str, Any], other: Mapping[str, Any], place: str
    ) -> dict[str, Any]:
        """Return a schema for values that conform to both schemas, `one` and `other`.

        If both have a keyword whose values cannot be combined, the value in `other` is used, and
        the keyword is recorded as unenforced.
        """
        merged = {**one, **other}
        for key in one.keys() & other.keys():
            if key == "properties":
                merged[key] = {**one[key], **other[key]}
            elif key == "required":
                merged[key] = list(dict.fromkeys([*one[key], *other[key]]))
            elif key == "enum":
                merged[key] = [value for value in one[key] if value in other[key]]
            elif key in ENFORCED and one[key] != other[key]:
                self.unenforced.append(f"{place}/{key}")
        return merged

    def _any_of(
        self, schema: Mapping[str, Any], key: str, room: int, place: str, seen: tuple[str, ...]
    ) -> dict[str, Any]:
        base = {name: part for name, part in schema.items() if name != key}
        options = [option for option in schema[key] if option is not False]
        if not options:
            raise Impossible(f"{key} has no alternative")
        tried = []
        for number, option in enumerate(options):
            whole = option if isinstance(option, Mapping) else {}
            joined = (
                {**base, **whole}
                if "$ref" in whole
                else self._merge(base, whole, f"{place}/{key}/{number}")
            )
            tried.append(("", joined, f"{place}/{key}/{number}"))
        found = self._first(tried, room, seen)
        if key == "oneOf" and not have_distinct_types(found.get("anyOf", [found])):
            self.unenforced.append(f"{place}/oneOf")
        return found

    def _list_alternatives(self, schema: Mapping[str, Any]) -> list[Any]:
        listed = schema["enum"] if "enum" in schema else [schema["const"]]
        definitions = {
            key: self.root[key]
            for key in ("$defs", "definitions", "components")
            if key in self.root
        }
        try:
            conforms = validator({**definitions, **schema}).is_valid
        except ValueError:
            return list(listed)
        if not (values := [value for value in listed if conforms(value)]):
            raise Impossible("no value of the enumeration conforms")
        return values

    def _of_type(
        self, kind: str, schema: Mapping[str, Any], room: int, place: str, seen: tuple[str, ...]
    ) -> dict[str, Any]:
        match kind:
            case "string":
                return self._string(schema, room, place)
            case "integer" | "number":
                return number_schema(kind, schema)
            case "array":
                return self._array(schema, room, place, seen)
            case "object":
                return self._object(schema, room, place, seen)
            case "boolean" | "null":
                return {"type": kind}
        raise Impossible(f"there is no type {kind!r}")

    def _string(self, schema: Mapping[str, Any], room: int, place: str) -> dict[str, Any]:
        least = read_count(schema, "minLength", 0)
        if least > _MOST_CHARACTERS:
            raise Impossible(f"no model writes {least:,} characters")
        limit = max(FEWEST_CHARACTERS, room, least)
        most = min(read_count(schema, "maxLength", limit), limit)
        if most < least:
            raise Impossible("maxLength is below minLength")
        found: dict[str, Any] = {
            "type": "string",
            **({"minLength": least} if least else {}),
            "maxLength": most,
        }
        if schema.get("format") in _FORMATS:
            found["format"] = schema["format"]
            found["maxLength"] = read_count(schema, "maxLength", max(most, _FORMAT_CHARACTERS))
        if not isinstance(pattern := schema.get("pattern"), str):
            return found
        # Keep the pattern if llguidance accepts it, with or without the length limit.
        held = found | {"pattern": "".join(_expand_classes(pattern))}
        unbounded = {
            key: part for key, part in held.items() if key != "maxLength" or "maxLength" in schema
        }
        for attempt in (held, unbounded):
            if not refusal_reason(json_text(attempt)):
                return attempt
        self.unenforced.append(f"{place}/pattern")
        return found

    def _array(
        self, schema: Mapping[str, Any], room: int, place: str, seen: tuple[str, ...]
    ) -> dict[str, Any]:
        least = read_count(schema, "minItems", 0)
        limit = max(least, min(self.bounds.items, max(1, room // FEWEST_CHARACTERS)))
        most = min(read_count(schema, "maxItems", limit), limit)
        if most < least:
            raise Impossible("maxItems is below minItems")
        found: dict[str, Any] = {"type": "array", "maxItems": most} | (
            {"minItems": least} if least else {}
        )
        try:
            inner = max(1, room // max(1, most))
            return found | {
                "items": self.value(schema.get("items", True), inner, f"{place}/items", seen)
            }
        except Impossible:
            if least:
                raise
            return {"type": "array", "maxItems": 0, "items": {"type": "null"}}

    def _object(
        self, schema: Mapping[str, Any], room: int, place: str, seen: tuple[str, ...]
    ) -> dict[str, Any]:
        named = schema.get("properties")
        parts: Mapping[str, Any] = named if isinstance(named, Mapping) else {}
        required = [key for key in schema.get("required") or () if isinstance(key, str)]
        more = schema.get("additionalProperties", True)
        inner = max(1, room // max(1, len(parts)))
        found: dict[str, Any] = {}
        for key in dict.fromkeys([*parts, *required]):
            try:
                found[key] = self.value(
                    parts.get(key, more), inner, f"{place}/properties/{key}", seen
                )
            except Impossible:
                if key in required:
                    raise
        if found or more is False:
            return {
                "type": "object",
                "properties": found,
                "required": required,
                "additionalProperties": False,
            }
        values = self.value(more, max(1, room // MOST_KEYS), f"{place}/additionalProperties", seen)
        return open_object(values)


def _expand_classes(pattern: str) -> Iterator[str]:
    r"""Yield the parts of a pattern in which `\d`, `\w` and `\s` are replaced by ASCII classes.

    In llguidance, which is written in Rust, these escapes match all of Unicode. In JSON Schema they
    match only ASCII.
    """
    inside = False
    for part in re.findall(r"\\.|.", pattern, re.DOTALL):
        letters = _ASCII.get(part[1:].lower()) if part[0] == "\\" else None
        if letters is None or (part[1].isupper() and inside):
            inside = part == "[" or (inside and part != "]")
            yield part
        else:
            yield letters if inside else f"[{'^' * part[1].isupper()}{letters}]"


@lru_cache(maxsize=4096)
def refusal_reason(text: str) -> str:
    """Return the reason why llguidance refuses a schema, on one line.

    Return "" if llguidance accepts the schema or is not installed.
    """
    try:
        from llguidance import LLMatcher
    except ImportError:
        return ""
    error = LLMatcher.validate_grammar(LLMatcher.grammar_from_json_schema(text))
    return " ".join(error.split())[:200]
