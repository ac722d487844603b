"""Prepares a tool's input schema for llguidance's `%json`: bounds all strings, numbers and lists,
and closes objects.

`%json` enforces most of JSON Schema, but it allows numbers that overflow and texts without an end,
and it refuses schemas with keywords that it does not know. So each schema is copied once:
references are resolved, missing bounds are added, and clauses that cannot be enforced are dropped
and listed as `unenforced`. In any case, the finished call is validated against the complete schema
(`parse.py`).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, TypeGuard

from atc.models.decode.errors import Undecodable
from protocols.schema import resolve_pointer, types
from protocols.toolbox import Tool
from protocols.validate import validator

INSTALL = 'pip install "automatic-tool-chain[decode]"'
INTEGER_LIMIT = 10**18
NUMBER_LIMIT = 10**15
"""Largest absolute values if a schema sets no bound. llguidance supports ranges up to about
these.
"""

_HELD_WORDS = """type enum const properties required additionalProperties items minItems maxItems minLength maxLength
pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf anyOf oneOf allOf $ref"""
_UNHELD_WORDS = """not if then else uniqueItems contains minContains maxContains propertyNames patternProperties
minProperties maxProperties prefixItems dependentRequired dependentSchemas dependencies unevaluatedItems
unevaluatedProperties $dynamicRef"""
_HELD = frozenset(_HELD_WORDS.split())
_UNHELD = frozenset(_UNHELD_WORDS.split())
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
_KEY = "^[A-Za-z_][A-Za-z0-9_]{0,30}$"
"""Pattern of the keys of an object whose schema names none."""
_MOST_KEYS = 5
_ASCII = {"d": "0-9", "w": "A-Za-z0-9_", "s": r" \t\n\r\f\v"}
_FEWEST_CHARACTERS = 40
_ARGUMENT_CHARACTERS = 120
_FORMAT_CHARACTERS = 120
"""Minimum length limits: of any string, of a string that is an argument, and of a string with a
format.
"""
_MOST_CHARACTERS = 100_000
_OPTIONS = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
_LOOSE = ("pattern", "format", "multipleOf")
"""Keywords of which llguidance refuses some values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Default limits of decoded values. A schema may tighten them, and widens them only by
    requiring more (`minLength`).
    """

    characters: int = 400
    """Maximum characters of one string."""
    call_characters: int = 1600
    """Characters shared by the strings of one call, so that a call fits a model's usual token
    limit.
    """
    items: int = 20
    """Maximum items of one array."""
    depth: int = 4
    """Maximum nesting of a recursive schema within itself."""


BOUNDS = Bounds()


@dataclass(frozen=True, slots=True, kw_only=True)
class GrammarArgument:
    """One argument of a tool, ready for a grammar: `schema` is bounded and has no references.

    `plain_type` is its type if no other keyword restricts it, else empty.
    """

    alias: str
    schema: Mapping[str, Any]
    required: bool
    plain_type: str = ""


@dataclass(frozen=True, slots=True)
class GrammarArguments:
    """The arguments of a tool in their order.

    `unenforced` are JSON pointers of clauses that no grammar enforces. Optional arguments that no
    value fits are left out.
    """

    every: tuple[GrammarArgument, ...]
    unenforced: tuple[str, ...] = ()


class _Impossible(Exception):
    """No value conforms to a schema, or only infinite ones."""


def arguments_of(tool: Tool, bounds: Bounds = BOUNDS) -> GrammarArguments:
    """Return the tool's arguments with bounded schemas.

    Raises:
        Undecodable: no value fits a required argument. The error names the tool and the clause.
    """
    schema = tool.protocol.input_schema
    room = max(
        _ARGUMENT_CHARACTERS,
        min(bounds.characters, bounds.call_characters // max(1, len(tool.arguments))),
    )
    unheld = [f"/{key}" for key in schema if key in _UNHELD or key in ("anyOf", "oneOf", "allOf")]
    every: list[GrammarArgument] = []
    for alias, name in tool.arguments.items():
        place = f"/properties/{name}"
        required = alias in tool.required
        raw = tool.protocol.parameters[name]
        bounding = _SchemaBounder(schema, bounds)
        try:
            bounded = _compilable(bounding, raw, room, place)
        except _Impossible as error:
            if required:
                hint = "Correct the schema of the tool."
                raise Undecodable(
                    f"{error}: nothing conforms.", tool=tool.alias, clause=place, hint=hint
                ) from None
            continue
        unheld += bounding.unenforced
        limits = _HELD - {"type"}
        whole = bounding.resolve_reference(raw, ())[0] if isinstance(raw, Mapping) else {}
        kind = "" if limits & whole.keys() else whole.get("type")
        every.append(
            GrammarArgument(
                alias=alias,
                schema=bounded,
                required=required,
                plain_type=kind if isinstance(kind, str) else "",
            )
        )
    return GrammarArguments(tuple(every), tuple(dict.fromkeys(unheld)))


def json_text(schema: Mapping[str, Any]) -> str:
    """Return the schema as text for `%json`, which then writes JSON like `json.dumps`, with one
    space after commas and colons.
    """
    return json.dumps({"x-guidance": _OPTIONS, **schema}, ensure_ascii=False)


def _compilable(bounding: _SchemaBounder, raw: Any, room: int, place: str) -> dict[str, Any]:
    """Return the bounded schema. If llguidance refuses it, drop the keywords it may refuse and
    record the clause.
    """
    bounded = bounding.value(raw, room, place)
    if not (why := _refusal_reason(json_text(bounded))):
        return bounded
    loose: dict[str, Any] = _loosen(bounded)
    if loose == bounded or _refusal_reason(json_text(loose)):
        raise _Impossible(why)
    bounding.unenforced.append(place)
    return loose


def _loosen(schema: Any) -> Any:
    """Return the schema without the keywords that llguidance may refuse."""
    if isinstance(schema, list):
        return [_loosen(part) for part in schema]
    if not isinstance(schema, Mapping) or "enum" in schema:
        return schema
    kept = {key: part for key, part in schema.items() if key not in _LOOSE}
    named = {key: _loosen(part) for key, part in kept.get("properties", {}).items()}
    return {key: named if key == "properties" else _loosen(part) for key, part in kept.items()}


@dataclass
class _SchemaBounder:
    """Bounds the schema of one argument. `root` is the document that references point into."""

    root: Mapping[str, Any]
    bounds: Bounds
    unenforced: list[str] = field(default_factory=list)

    def value(
        self, schema: Any, room: int, place: str, seen: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        """Return a bounded schema that can be compiled. Values that conform to it conform to
        `schema`.

        Raises:
            _Impossible: no value conforms.
        """
        if schema is False:
            raise _Impossible("the schema allows no value")
        if not isinstance(schema, Mapping):
            return _anything(room)
        schema, seen = self.resolve_reference(schema, seen)
        self.unenforced += [f"{place}/{key}" for key in sorted(_UNHELD & schema.keys())]
        for number, part in enumerate(schema.get("allOf", ())):
            part, seen = self.resolve_reference(part if isinstance(part, Mapping) else {}, seen)
            rest = {
                key: one
                for key, one in schema.items()
                if key != "allOf" or number + 1 < len(schema["allOf"])
            }
            schema = self._merge(rest, part, f"{place}/allOf/{number}")
        if "enum" in schema or "const" in schema:
            return {"enum": self._list_alternatives(schema)}
        for key in ("anyOf", "oneOf"):
            if isinstance(schema.get(key), list):
                return self._any_of(schema, key, room, place, seen)
        kinds = types(schema) or _TYPES
        if not _HELD & schema.keys() - {"type"} and set(kinds) == set(_TYPES):
            return _anything(room)
        return self._first([(kind, schema, place) for kind in kinds], room, seen)

    def _first(
        self, tried: Sequence[tuple[str, Mapping[str, Any], str]], room: int, seen: tuple[str, ...]
    ) -> dict[str, Any]:
        """Combine the possible ones of several types or alternatives."""
        options: list[dict[str, Any]] = []
        why = _Impossible("the schema names no type")
        for kind, schema, place in tried:
            try:
                of_kind = (
                    self._of_type(kind, schema, room, place, seen)
                    if kind
                    else self.value(schema, room, place, seen)
                )
                options.append(of_kind)
            except _Impossible as error:
                why = error
        if not options:
            raise why
        return options[0] if len(options) == 1 else {"anyOf": options}

    def resolve_reference(
        self, schema: Mapping[str, Any], seen: tuple[str, ...]
    ) -> tuple[Mapping[str, Any], tuple[str, ...]]:
        """Return the schema with a leading reference resolved, and the references followed so
        far.
        """
        while isinstance(ref := schema.get("$ref"), str):
            seen = (*seen, ref)
            if seen.count(ref) > self.bounds.depth:
                raise _Impossible("what conforms is nested without end")
            target = resolve_pointer(self.root, ref)
            siblings = {key: part for key, part in schema.items() if key != "$ref"}
            if target is None:
                self.unenforced.append(f"$ref {ref}")
            if target is False:
                raise _Impossible("the schema allows no value")
            schema = {**target, **siblings} if isinstance(target, Mapping) else siblings
        return schema, seen

    def _merge(
        self, one: Mapping[str, Any], other: Mapping[str, Any], place: str
    ) -> dict[str, Any]:
        """Return a schema for values that conform to both schemas.

        If a clause of both cannot be combined, the later one is used and the place is recorded as
        unenforced.
        """
        merged = {**one, **other}
        for key in one.keys() & other.keys():
            if key == "properties":
                merged[key] = {**one[key], **other[key]}
            elif key == "required":
                merged[key] = list(dict.fromkeys([*one[key], *other[key]]))
            elif key == "enum":
                merged[key] = [value for value in one[key] if value in other[key]]
            elif key in _HELD and one[key] != other[key]:
                self.unenforced.append(f"{place}/{key}")
        return merged

    def _any_of(
        self, schema: Mapping[str, Any], key: str, room: int, place: str, seen: tuple[str, ...]
    ) -> dict[str, Any]:
        base = {name: part for name, part in schema.items() if name != key}
        options = [option for option in schema[key] if option is not False]
        if not options:
            raise _Impossible(f"{key} has no alternative")
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
        if key == "oneOf" and not _have_distinct_types(found.get("anyOf", [found])):
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
            raise _Impossible("no value of the enumeration conforms")
        return values

    def _of_type(
        self, kind: str, schema: Mapping[str, Any], room: int, place: str, seen: tuple[str, ...]
    ) -> dict[str, Any]:
        match kind:
            case "string":
                return self._string(schema, room, place)
            case "integer" | "number":
                return _number(kind, schema)
            case "array":
                return self._array(schema, room, place, seen)
            case "object":
                return self._object(schema, room, place, seen)
            case "boolean" | "null":
                return {"type": kind}
        raise _Impossible(f"there is no type {kind!r}")

    def _string(self, schema: Mapping[str, Any], room: int, place: str) -> dict[str, Any]:
        least = _count(schema, "minLength", 0)
        if least > _MOST_CHARACTERS:
            raise _Impossible(f"no model writes {least:,} characters")
        limit = max(_FEWEST_CHARACTERS, room, least)
        most = min(_count(schema, "maxLength", limit), limit)
        if most < least:
            raise _Impossible("maxLength is below minLength")
        found: dict[str, Any] = {
            "type": "string",
            **({"minLength": least} if least else {}),
            "maxLength": most,
        }
        if schema.get("format") in _FORMATS:
            found["format"] = schema["format"]
            found["maxLength"] = _count(schema, "maxLength", max(most, _FORMAT_CHARACTERS))
        if not isinstance(pattern := schema.get("pattern"), str):
            return found
        # With its pattern, in the longest form that llguidance takes; without where it takes none.
        held = found | {"pattern": "".join(_expand_classes(pattern))}
        unbounded = {
            key: part for key, part in held.items() if key != "maxLength" or "maxLength" in schema
        }
        for attempt in (held, unbounded):
            if not _refusal_reason(json_text(attempt)):
                return attempt
        self.unenforced.append(f"{place}/pattern")
        return found

    def _array(
        self, schema: Mapping[str, Any], room: int, place: str, seen: tuple[str, ...]
    ) -> dict[str, Any]:
        least = _count(schema, "minItems", 0)
        limit = max(least, min(self.bounds.items, max(1, room // _FEWEST_CHARACTERS)))
        most = min(_count(schema, "maxItems", limit), limit)
        if most < least:
            raise _Impossible("maxItems is below minItems")
        found: dict[str, Any] = {"type": "array", "maxItems": most} | (
            {"minItems": least} if least else {}
        )
        try:
            inner = max(1, room // max(1, most))
            return found | {
                "items": self.value(schema.get("items", True), inner, f"{place}/items", seen)
            }
        except _Impossible:
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
            except _Impossible:
                if key in required:
                    raise
        if found or more is False:
            return {
                "type": "object",
                "properties": found,
                "required": required,
                "additionalProperties": False,
            }
        values = self.value(more, max(1, room // _MOST_KEYS), f"{place}/additionalProperties", seen)
        return _open_object(values)


def _open_object(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object whose keys are not named."""
    named = {"patternProperties": {_KEY: values}, "maxProperties": _MOST_KEYS}
    return {"type": "object", **named, "additionalProperties": False}


def _number(kind: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a number with both bounds, which keeps it finite and without
    exponent.
    """
    limit = INTEGER_LIMIT if kind == "integer" else NUMBER_LIMIT
    found: dict[str, Any] = {"type": kind}
    for key, sign, whole in (("minimum", -1, math.ceil), ("maximum", 1, math.floor)):
        exclusive = f"exclusive{key.capitalize()}"
        given = {name: schema[name] for name in (key, exclusive) if _is_number(schema.get(name))}
        if kind == "integer" and given:
            ends = [whole(v) for name, v in given.items() if name == key]
            ends += [
                math.floor(v) + 1 if sign < 0 else math.ceil(v) - 1
                for n, v in given.items()
                if n == exclusive
            ]
            given = {key: max(ends) if sign < 0 else min(ends)}
        given = {name: value for name, value in given.items() if abs(value) <= limit}
        found |= given or {key: sign * limit}
    low = max(found.get("minimum", -math.inf), found.get("exclusiveMinimum", -math.inf))
    if low > min(found.get("maximum", math.inf), found.get("exclusiveMaximum", math.inf)):
        raise _Impossible("its minimum is above its maximum")
    if _is_number(step := schema.get("multipleOf")):
        found["multipleOf"] = step
    return found


def _anything(room: int) -> dict[str, Any]:
    """Return a schema of any value, with one level of values within it."""
    plain = [_number("number", {}), {"type": "boolean"}, {"type": "null"}]
    short = [{"type": "string", "maxLength": _FEWEST_CHARACTERS}, *plain]
    listed = {"type": "array", "items": {"anyOf": short}, "maxItems": _MOST_KEYS}
    text = {"type": "string", "maxLength": max(_FEWEST_CHARACTERS, room)}
    return {"anyOf": [text, *plain, listed, _open_object({"anyOf": [*short, listed]})]}


def _have_distinct_types(options: list[dict[str, Any]]) -> bool:
    """True if no value conforms to two of the alternatives, judged by their types."""
    kinds = [
        "number" if kind == "integer" else kind
        for option in options
        for kind in ({*types(option)} or {"?"})
    ]
    return "?" not in kinds and len(set(kinds)) == len(kinds)


def _count(schema: Mapping[str, Any], key: str, default: int) -> int:
    value = schema.get(key)
    return int(value) if _is_number(value) and value >= 0 else default


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _expand_classes(pattern: str) -> Iterator[str]:
    r"""Yield the pattern with `\d`, `\w` and `\s` written out. In Rust they match all of Unicode, in
    JSON Schema only ASCII.
    """
    inside = False
    for part in re.findall(r"\\.|.", pattern, re.DOTALL):
        letters = _ASCII.get(part[1:].lower()) if part[0] == "\\" else None
        if letters is None or (part[1].isupper() and inside):
            inside = part == "[" or (inside and part != "]")
            yield part
        else:
            yield letters if inside else f"[{'^' * part[1].isupper()}{letters}]"


def require_llguidance() -> None:
    """Raise Undecodable if llguidance is not installed."""
    if find_spec("llguidance") is None:
        raise Undecodable("grammars need 'llguidance', which is not installed.", hint=INSTALL)


@lru_cache(maxsize=4096)
def _refusal_reason(text: str) -> str:
    """Return why llguidance refuses a schema, on one line. Empty if it accepts it or is not
    installed.
    """
    try:
        from llguidance import LLMatcher
    except ImportError:
        return ""
    said = LLMatcher.validate_grammar(LLMatcher.grammar_from_json_schema(text))
    return " ".join(said.split())[:200]


def strict_object(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object's schema for OpenAI's strict mode: every key required, optional ones
    nullable.
    """
    required = set(schema.get("required", ()))
    parts = {key: _strict(part) for key, part in schema.get("properties", {}).items()}
    nullable = {
        key: part if key in required else {"anyOf": [part, {"type": "null"}]}
        for key, part in parts.items()
    }
    return {
        "type": "object",
        "properties": nullable,
        "required": list(parts),
        "additionalProperties": False,
    }


def _strict(part: Any) -> Any:
    """Return a value's schema without length limits, which strict mode refuses."""
    if isinstance(part, list):
        return [_strict(one) for one in part]
    if not isinstance(part, Mapping) or "enum" in part:
        return part
    if part.get("type") == "object" and "properties" in part:
        return strict_object(part)
    return {key: _strict(one) for key, one in part.items() if key not in ("minLength", "maxLength")}
