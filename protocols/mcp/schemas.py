"""Reads the schemas of MCP tools, of any draft and with mistakes, as JSON Schema 2020-12.

MCP's SDK refuses a whole list of tools for one schema that it does not expect. Here each schema is
repaired: what an older draft wrote in another way is rewritten, and a keyword that no draft allows
is dropped, so that the schema allows more and the tool can still be called.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from jsonschema_rs import meta

from protocols.naming import FreeNames
from protocols.schema import (
    GUESSED_TYPE,
    SHOWN_FIELDS,
    Json,
    JsonObject,
    as_mapping,
    items_of_type,
    iter_parts,
    iter_reference_targets,
    resolve,
    resolve_pointer,
    types,
)
from protocols.validate import BoundedValidator, TooExpensive, is_schema

_DEEPEST = 100
"""Maximum number of levels of a schema. Deeper ones allow any value."""
_MOST_BRANCHES = 200
"""Maximum number of alternatives of an input schema from which arguments are collected."""
_ONE = frozenset({
    "items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else",
    "unevaluatedItems", "unevaluatedProperties", "contentSchema",
})  # fmt: skip
_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_MAPS = frozenset({"properties", "patternProperties", "dependentSchemas"})
_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_REWRITTEN = frozenset({
    "$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "$defs",
    "definitions", "type", "enum", "required", "items", "prefixItems", "additionalItems",
    "dependencies", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "divisibleBy",
    "nullable", "examples", "example",
}) | _REFERENCES  # fmt: skip
"""Keywords that are read by a function of their own, or not at all."""
_JSON_TYPES = ("string", "number", "integer", "boolean", "object", "array", "null")
_TYPES = dict(zip(_JSON_TYPES, _JSON_TYPES, strict=True)) | {
    "int": "integer", "long": "integer", "float": "number", "double": "number", "bool": "boolean",
    "str": "string", "text": "string", "date": "string", "dict": "object", "map": "object",
    "list": "array", "None": "null",
}  # fmt: skip
"""The JSON type that a name in `type` means."""


class SchemaReader:
    """Reads one schema of an MCP tool. `problems` says what of it was dropped, in clauses."""

    def __init__(self, root: Json) -> None:
        self._root = root
        self._free = FreeNames()
        self._names: dict[str, str] = {}  # of definitions, keyed by reference
        self._definitions: dict[str, Any] = {}
        self._waiting: list[tuple[str, Json]] = []  # definitions that are not converted yet
        self._problems: dict[str, None] = {}
        self._depth = 0

    @property
    def problems(self) -> tuple[str, ...]:
        """A clause for each part that was dropped because no draft of JSON Schema allows it."""
        return tuple(self._problems)

    def read(self) -> dict[str, Any] | None:
        """Return the schema as JSON Schema 2020-12; None if it is no schema or allows any value.

        A reference at the top level is replaced by its target.
        """
        if not isinstance(self._root, Mapping):
            if not isinstance(self._root, bool | None):
                self._problems["it is no schema"] = None
            return None
        schema = self._convert(self._root)
        while self._waiting:  # not by recursion: references may form a long chain
            name, target = self._waiting.pop()
            self._definitions[name] = self._convert(target)
        if not isinstance(schema, dict):
            return None
        top = dict(resolve(schema, {"$defs": self._definitions}))
        if self._definitions:
            top["$defs"] = dict(sorted(self._definitions.items()))
        if problem := _find_defect(top):
            self._problems[problem] = None
            return None
        return top if top.keys() - {"$defs", "title", "description"} else None

    def _convert(self, raw: Json) -> Any:
        """Return a schema inside the document as JSON Schema 2020-12: an object, true or false."""
        if not isinstance(raw, Mapping):
            return raw if isinstance(raw, bool) else {}
        if self._depth >= _DEEPEST:
            self._problems[f"it is nested deeper than {_DEEPEST} levels"] = None
            return {}
        self._depth += 1
        found = self._keywords(raw)
        reference = next((raw[key] for key in sorted(_REFERENCES) if key in raw), None)
        if reference is not None:
            found = self._with_reference(reference, found)
        if raw.get("nullable") is True:
            found = _make_nullable(found)
        self._depth -= 1
        return found

    def _with_reference(self, ref: Json, beside: dict[str, Any]) -> dict[str, Any]:
        """Return the schema of a reference with the keywords `beside` it.

        A reference without a target allows any value.
        """
        target = self._find(ref)
        if target is None:
            self._problems[f"the reference {ref!r:.100} leads nowhere"] = None
            return beside
        if ref not in self._names:
            last = re.sub(r"[^A-Za-z0-9_.-]+", "_", unquote(ref).rsplit("/", 1)[-1])
            name = self._names[ref] = self._free(last.strip("_") or "schema")
            self._waiting.append((name, target))
        found = {"$ref": f"#/$defs/{self._names[ref]}"}
        # Old drafts ignore what stands beside a reference; documents mean it.
        return {**found, **beside} if "allOf" not in beside else {"allOf": [found, beside]}

    def _find(self, ref: Json) -> Json:
        """Return the schema that a reference names by its place or its id, or None."""
        if not isinstance(ref, str):
            return None
        target = resolve_pointer(self._root, unquote(ref))
        return self._identified.get(ref) if target is None else target

    @cached_property
    def _identified(self) -> dict[str, Json]:
        """The schemas that have an id or an anchor, keyed by the reference that names them."""
        found: dict[str, Json] = {}
        for part in iter_parts(self._root):
            for key, sign in (("$id", ""), ("id", ""), ("$anchor", "#"), ("$dynamicAnchor", "#")):
                named = part.get(key) if isinstance(part, Mapping) else None
                if isinstance(named, str) and named:
                    found.setdefault(f"{sign}{named}", part)
        return found

    def _keywords(self, raw: JsonObject) -> dict[str, Any]:
        """Return the keywords of a schema, converted, without its reference."""
        found: dict[str, Any] = {}
        for key, value in raw.items():
            if key not in _REWRITTEN:
                self._add_keyword(found, key, value)
        found |= _read_type(raw, self._drop)
        found |= _read_bounds(raw, self._drop)
        found |= self._items(raw)
        self._add_dependencies(raw, found)
        required = _required_names(raw)
        if required:
            found["required"] = required
        shown = raw.get("examples", [raw["example"]] if "example" in raw else None)
        if shown is not None:
            found["examples"] = shown if isinstance(shown, list) else [shown]
        return found

    def _add_keyword(self, found: dict[str, Any], key: str, value: Json) -> None:
        """Add a keyword to `found` with its value converted, or drop it if the value is wrong."""
        if key in _ONE and isinstance(value, bool | Mapping):
            found[key] = self._convert(value)
        elif key in _LISTS and isinstance(value, list) and value:
            found[key] = [self._convert(part) for part in value]
        elif key in _MAPS and isinstance(value, Mapping):
            found[key] = self._convert_map(key, value)
        elif key in _ONE | _LISTS | _MAPS or not _is_valid(key, value):
            self._drop(key, value)
        else:
            found[key] = value

    def _convert_map(self, keyword: str, schemas: JsonObject) -> dict[str, Any]:
        """Return the converted schemas under a keyword such as `properties`, keyed by name."""
        found = {}
        for name, schema in schemas.items():
            if keyword == "patternProperties" and not is_schema({keyword: {name: True}}):
                self._drop("pattern", name)
            else:
                found[str(name)] = self._convert(schema)
        return found

    def _items(self, raw: JsonObject) -> dict[str, Any]:
        """Return the keywords for the items of a list. Up to 2019, a list of schemas is a tuple."""
        first = raw.get("prefixItems")
        items = raw.get("items")
        if isinstance(items, list):
            first = items
            items = raw.get("additionalItems")
        found: dict[str, Any] = {}
        if isinstance(first, list) and first:
            found["prefixItems"] = [self._convert(part) for part in first]
        if isinstance(items, bool | Mapping):
            found["items"] = self._convert(items)
        return found

    def _add_dependencies(self, raw: JsonObject, found: dict[str, Any]) -> None:
        """Add the `dependencies` of older drafts to the keywords in `found`."""
        for name, needed in as_mapping(raw.get("dependencies")).items():
            if isinstance(needed, str | list):
                names = [needed] if isinstance(needed, str) else items_of_type(needed, str)
                found.setdefault("dependentRequired", {})[name] = list(dict.fromkeys(names))
            elif isinstance(needed, bool | Mapping):
                found.setdefault("dependentSchemas", {})[name] = self._convert(needed)

    def _drop(self, keyword: str, value: Json) -> None:
        """Note that a keyword was dropped. Values that say nothing are dropped in silence."""
        if value is not None and value != "" and value != [] and value != {}:
            self._problems[f"{keyword!r} cannot be {value!r:.60}"] = None


def _find_defect(schema: JsonObject) -> str:
    """Return why values cannot be validated against a schema, in a clause, or "" if they can."""
    try:
        checks = BoundedValidator(schema)
        checks.is_valid(dict.fromkeys(as_mapping(schema.get("properties"))))
    except TooExpensive as error:
        return str(error)
    except ValueError:
        return "it is no valid schema"
    return ""


def read_input_schema(raw: Json) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the input schema of a tool, and what of it was dropped, in clauses.

    The result is always an object with `properties`. If a tool says in alternatives (`anyOf`, …)
    which arguments it takes, all of them are among the properties. A tool whose schema says nothing
    takes any arguments.
    """
    reader = SchemaReader(raw)
    schema = reader.read()
    problems = reader.problems
    kinds = types(schema) if schema is not None else ()
    if kinds and "object" not in kinds:
        problems = (*problems, f"its type is {' or '.join(kinds)}, not object")
        schema = None
    if schema is None:
        named: JsonObject = {
            str(name): {} for name in as_mapping(as_mapping(raw).get("properties"))
        }
        return {"type": "object", "properties": named, "additionalProperties": True}, problems
    arguments = _Arguments(schema)
    # A program can give only what is among the properties.
    properties = arguments.properties
    properties |= {name: {} for name in arguments.required if name not in properties}
    schema = {**schema, "type": "object", "properties": properties}
    if arguments.required:
        schema["required"] = arguments.required
    if not properties and (not kinds or problems):
        schema.setdefault("additionalProperties", True)
    return schema, problems


def read_output_schema(raw: Json) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    """Return the output schema of a tool, or None, and what of it was dropped, in clauses."""
    reader = SchemaReader(raw)
    return reader.read(), reader.problems


class _Arguments:
    """The arguments that an object schema and its alternatives name."""

    def __init__(self, schema: JsonObject) -> None:
        self._root = schema
        self._left = _MOST_BRANCHES
        self._found: dict[str, Any] = {}
        self.required = list(dict.fromkeys(self._visit(schema)))
        """Names of the arguments that each alternative requires."""
        self.properties = {**self._found, **as_mapping(schema.get("properties"))}
        """The schema of each argument, which allows what any of the alternatives allows."""

    def _visit(self, part: Json) -> list[str]:
        """Add the arguments that a part of the schema names. Return those that it requires."""
        self._left -= 1
        if self._left < 0:
            return []
        here = resolve(part, self._root)
        for name, schema in as_mapping(here.get("properties")).items():
            self._add(name, schema)
        for names in as_mapping(here.get("dependentRequired")).values():
            for name in names:
                self._add(name, self._found.get(name, {}))
        required = list(here.get("required", ()))
        for inner in here.get("allOf", ()):
            required += self._visit(inner)
        for keyword in ("anyOf", "oneOf"):
            required += self._visit_alternatives(here.get(keyword, ()))
        for keyword in ("if", "then", "else"):
            if keyword in here:
                self._visit(here[keyword])
        for inner in as_mapping(here.get("dependentSchemas")).values():
            self._visit(inner)
        return required

    def _visit_alternatives(self, branches: Iterable[Json]) -> list[str]:
        """Add the arguments of all alternatives. Return those that each alternative requires."""
        required = [self._visit(branch) for branch in branches]
        if not required:
            return []
        common = set(required[0]).intersection(*required[1:])
        return [name for name in required[0] if name in common]

    def _add(self, name: str, schema: Json) -> None:
        """Add an argument. If it has another schema already, the argument may conform to either."""
        known: Any = self._found.setdefault(name, schema)
        is_joined = isinstance(known, dict) and known.keys() == {"anyOf"}
        both = known["anyOf"] if is_joined else [known]
        if schema != known and schema not in both:
            self._found[name] = {"anyOf": [*both, schema]}


def _read_type(raw: JsonObject, drop: Callable[[str, Json], None]) -> dict[str, Any]:
    """Return the keywords `type` and `enum` of a schema as JSON Schema 2020-12."""
    found: dict[str, Any] = {}
    given = raw.get("type")
    named = given if isinstance(given, list) else [given]
    kinds = [_TYPES[name] for name in named if isinstance(name, str) and name in _TYPES]
    if len(kinds) < len(named) and given not in (None, "any", ["any"]):
        drop("type", given)
        kinds = []  # the part that is unknown may allow anything
    if kinds := list(dict.fromkeys(kinds)):
        found["type"] = kinds[0] if len(kinds) == 1 else kinds
    values = raw.get("enum")
    if isinstance(values, list) and values:
        found["enum"] = _without_duplicates(values)
    elif values is not None:
        drop("enum", values)
    return found


def _without_duplicates(values: Iterable[Json]) -> list[Json]:
    """Return JSON values without repetitions. True and 1 are different values."""
    return list({repr(value): value for value in values}.values())


def _read_bounds(raw: JsonObject, drop: Callable[[str, Json], None]) -> dict[str, Any]:
    """Return the bounds of a number. In draft 4, `exclusiveMinimum: true` is about `minimum`."""
    found: dict[str, Any] = {}
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        limit = raw.get(bound)
        strict = raw.get(exclusive)
        if _is_number(limit):
            found[exclusive if strict is True else bound] = limit
        elif limit is not None:
            drop(bound, limit)
        if _is_number(strict):
            found[exclusive] = strict
        elif strict is not None and not isinstance(strict, bool):
            drop(exclusive, strict)
    step = raw.get("divisibleBy")
    if isinstance(step, int | float) and step > 0:
        found["multipleOf"] = step
    return found


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _required_names(raw: JsonObject) -> list[str]:
    """Return the names of required properties.

    In draft 3 each property says itself that it is required.
    """
    given = raw.get("required")
    properties = as_mapping(raw.get("properties"))
    names = [given] if given in list(properties) else items_of_type(given, str)
    marked = [
        str(name) for name, part in properties.items() if as_mapping(part).get("required") is True
    ]
    return list(dict.fromkeys([*names, *marked]))


def _make_nullable(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that also allows null, as OpenAPI's `nullable` says."""
    return {"anyOf": [schema, {"type": "null"}]} if schema else schema


def _is_valid(keyword: str, value: Json) -> bool:
    """Return True if a keyword of a schema may have this value. A pattern must compile."""
    if keyword in (GUESSED_TYPE, SHOWN_FIELDS):
        return is_schema(value) and not iter_reference_targets(value)
    schema = {keyword: value}
    return is_schema(schema) if keyword == "pattern" else meta.is_valid(schema)
