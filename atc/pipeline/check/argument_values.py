"""Check of an argument's value against the JSON Schema of the argument.

Constants are checked by a JSON Schema validator. Of other values the check knows only a type, which
is compared with the JSON types that the schema allows. For an argument that is sent as text, such
as one in the query, a number and its text are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import jsonschema_rs

from atc.core.messages import find_nearest, format_list
from atc.pipeline.check import types as t
from atc.pipeline.check.kinds import json_types
from atc.pipeline.check.patterns import (
    NUMBER_TEXTS,
    are_disjoint,
    can_be_number,
    can_match,
)
from atc.pipeline.check.schema import items_of, listed_values
from protocols.schema import JsonObject, all_types, resolve, scalar_schema, subschemas
from protocols.text_arguments import (
    as_numbers,
    as_texts,
    find_text_form,
    is_number_text,
)
from protocols.validate import BoundedValidator, first_error, validator
from sandbox.arguments import TYPE_WORDS

_MOST_DEPTH = 5
_NUMBERS = frozenset({"integer", "number"})
_MOST_JUDGES = 4096
_FORMATS = {
    "date": "a date such as '2013-01-31'",
    "date-time": "a date and time such as '2013-01-31T08:30:00Z'",
    "uuid": "a UUID",
    "email": "an e-mail address",
}


class Mismatch(NamedTuple):
    """Why the value of an argument does not fit the argument's schema.

    `expectation` describes the expected value (`one of 'a' and 'b'`). `better` is Python source of
    a value that fits, or None.
    """

    expectation: str
    better: str | None = None


def find_mismatch(
    value: Any, schema: Any, root: JsonObject, *, as_text: bool = False
) -> Mismatch | None:
    """Return why a JSON value violates the schema of an argument, or None if it does not.

    The reason is the first clause that the value violates. `root` is the document that contains
    `schema`. `as_text` is True if the argument is sent as text: then a value also fits if it does
    with its texts of digits as numbers, or with its numbers as texts.
    """
    found = _find_violated_clause(value, schema, root)
    if found is None or not as_text:
        return found
    for reading in (as_numbers(value), as_texts(value)):
        if _find_violated_clause(reading, schema, root) is None:
            return None
    return found


def _find_violated_clause(value: Any, schema: Any, root: JsonObject) -> Mismatch | None:
    if not isinstance(schema, Mapping) or (
        value is None and resolve(schema, root).get("nullable") is True
    ):
        return None
    judge, alone = _judge(schema, root)
    try:
        if judge is None or judge.is_valid(value):
            return None
        error = first_error(validator(alone), value)
    except ValueError:  # validation takes too long, or the value is not JSON
        return None
    return _explain_error(error) if error is not None else None


_judges: dict[
    tuple[int, int], tuple[BoundedValidator | None, JsonObject, JsonObject, JsonObject]
] = {}
"""Validators, keyed by the ids of a schema and of its document.

Schema and document are stored too, so that no other object can get their ids.
"""


def _judge(part: JsonObject, root: JsonObject) -> tuple[BoundedValidator | None, JsonObject]:
    """Return a JSON Schema validator for a part of a document, and this part as a complete schema.

    The complete schema includes the definitions of the document (`$defs`), so that references can
    be resolved. The validator is None if the part is not a valid schema.
    """
    key = (id(part), id(root))
    if key not in _judges:
        schema = {name: root[name] for name in ("$defs", "definitions") if name in root} | dict(
            part
        )
        try:
            judge: BoundedValidator | None = BoundedValidator(schema)
        except ValueError:
            judge = None
        if len(_judges) >= _MOST_JUDGES:
            _judges.clear()
        _judges[key] = (judge, schema, part, root)
    return _judges[key][:2]


def _explain_error(error: jsonschema_rs.ValidationError) -> Mismatch | None:
    """Return what an argument's value should have been, in words, from a validation error.

    If the error concerns an item or key inside the value, the text begins with the path to it, as
    in `a dict whose 'x' is …`. For `anyOf` and `oneOf` no path is added, because the text about
    their options already has one.
    """
    found = _explain_clause(error.kind.name, error.kind.as_dict(), error.instance)
    for step in () if error.kind.name in ("anyOf", "oneOf") else reversed(error.instance_path):
        inside = (
            "a list in which each item is" if isinstance(step, int) else f"a dict whose {step!r} is"
        )
        found = Mismatch(f"{inside} {found.expectation}") if found is not None else None
    return found


def _explain_clause(name: str, clause: dict[str, Any], value: Any) -> Mismatch | None:
    """Return what `value` should have been, in words, if it violates one keyword of its schema.

    `name` is the keyword, such as `enum` or `minimum`. Return None for keywords without such a
    text.
    """
    match name:
        case "type":
            allowed = sorted(clause["types"])
            return Mismatch(_describe_types(allowed), _convert_value(value, allowed))
        case "enum" | "const":
            return _not_listed(value, clause.get("options") or [clause.get("expected_value")])
        case "format":
            return _explain_format(clause["format"], value)
        case "anyOf" | "oneOf":
            return _explain_options(clause["context"])
        case _:
            words = _CLAUSES.get(name)
            better = repr(clause["limit"]) if name in ("minimum", "maximum") else None
            return Mismatch(words.format(value, **clause), better) if words is not None else None


def _describe_types(names: Iterable[str]) -> str:
    return " or ".join(TYPE_WORDS.get(name, name) for name in names)


def _explain_format(form: str, value: Any) -> Mismatch | None:
    """Return what a value of a schema format such as `date` looks like, in words.

    Return None for formats that are not checked, and for a date and time without a time zone, which
    is accepted.
    """
    lenient = form == "date-time" and re.match(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d", str(value))
    return Mismatch(_FORMATS[form]) if form in _FORMATS and not lenient else None


_CLAUSES = {
    "pattern": "a string that matches the pattern {pattern!r}",
    "minimum": "at least {limit}",
    "maximum": "at most {limit}",
    "exclusiveMinimum": "more than {limit}",
    "exclusiveMaximum": "less than {limit}",
    "multipleOf": "a multiple of {multiple_of}",
    "minLength": "a string of at least {limit} characters",
    "maxLength": "a string of at most {limit} characters",
    "minItems": "a list of at least {limit} items",
    "maxItems": "a list of at most {limit} items",
    "required": "a dict with the key {property!r}",
    "additionalProperties": "a dict without the key {unexpected[0]!r}",
}


def _explain_options(context: list[list[jsonschema_rs.ValidationError]]) -> Mismatch | None:
    """Return what a value should have been, in words, if it fits no option of `anyOf` or `oneOf`.

    If only one option allows the type of the value, the error of this option is explained, because
    the errors of the other options only report a wrong type.
    """
    found = [(option[0], _explain_error(option[0])) for option in context if option]
    if len(found) < len(context) or not all(misfit for _, misfit in found):
        return None
    chosen = [misfit for error, misfit in found if misfit and error.kind.name != "type"]
    options = [misfit for _, misfit in found if misfit]
    if len(chosen) == 1 or not options:
        return chosen[0] if chosen else None
    return Mismatch(" or ".join(dict.fromkeys(option.expectation for option in options)))


def _convert_value(value: Any, allowed: list[str]) -> str | None:
    """Return Python source of `value` converted to a type that its schema allows, or None."""
    match value:
        case str() if {"integer", "number"} & set(allowed) and re.fullmatch(
            r"-?\d+(\.\d+)?", value
        ):
            return value if "." not in value or "number" in allowed else None
        case int() | float() if "string" in allowed and not isinstance(value, bool):
            return repr(str(value))
        case str() if "boolean" in allowed and value.lower() in ("true", "false"):
            return value.capitalize()
        case str() if "array" in allowed:
            return repr([value])
        case _:
            return None


def _not_listed(value: Any, choices: list[Any]) -> Mismatch:
    near = find_nearest(value, _strings(choices)) if isinstance(value, str) else None
    return Mismatch(f"one of {format_list(map(repr, choices))}", repr(near) if near else None)


def _strings(values: Iterable[Any]) -> list[str]:
    return [value for value in values if isinstance(value, str)]


def find_type_mismatch(
    value: t.Type, schema: Any, root: JsonObject, depth: int = 0, *, as_text: bool = False
) -> Mismatch | None:
    """Return why no value of a type fits the schema of an argument, or None if one may fit.

    `value` is the type that the check inferred; it must not be a union. `as_text` is True if the
    argument is sent as text, see `find_mismatch`.
    """
    if not isinstance(schema, Mapping) or depth > _MOST_DEPTH:
        return None
    if isinstance(value, t.Atom) and value.values is not None:
        found = [find_mismatch(known, schema, root, as_text=as_text) for known in value.values]
        return found[0] if found and all(found) else None
    names = json_types(value)
    allowed = allowed_types(schema, root)
    if names is not None and allowed is not None and not names & allowed:
        if not (as_text and isinstance(value, t.Atom)):
            return Mismatch(_describe_types(sorted(allowed)))
        return _find_text_mismatch(value, names, allowed, schema, root)
    if isinstance(value, t.Atom) and value.pattern is not None:
        return find_pattern_mismatch(value.pattern, schema, root)
    return _find_item_mismatch(value, resolve(schema, root), root, depth, as_text=as_text)


def _find_text_mismatch(
    value: t.Atom, names: set[str], allowed: set[str], schema: JsonObject, root: JsonObject
) -> Mismatch | None:
    """Return why a type does not fit an argument that is sent as text, or None if a value may fit.

    The type is a string where a number is wanted, or the reverse. Such a value may fit unless the
    format, the pattern or the examples of a schema show that the string is no number.

    Args:
        value: the type of the value.
        names: the JSON types of the value.
        allowed: the JSON types that the argument allows.
        schema: the schema of the argument.
        root: the document that contains it.
    """
    if names & _NUMBERS and "string" in allowed:
        single = scalar_schema(schema, root)
        listed = _strings(listed_values(single) or ())
        texts = (*filter(is_number_text, listed), *NUMBER_TEXTS)
        fits = find_text_form(single) is None and any(
            _find_violated_clause(text, schema, root) is None for text in texts
        )
    else:
        is_digits = value.form is None and can_be_number(value.pattern or "")
        fits = "string" in names and bool(allowed & _NUMBERS) and is_digits
    return None if fits else Mismatch(_describe_types(sorted(allowed)))


def allowed_types(schema: Any, root: JsonObject) -> set[str] | None:
    """Return the JSON types that a schema allows, or None if it does not restrict them."""
    found = {*all_types(schema, root)}
    nullable = isinstance(schema, Mapping) and resolve(schema, root).get("nullable") is True
    return found | {"null"} if found and nullable else found or None


def find_pattern_mismatch(
    pattern: str, schema: Any, root: JsonObject, depth: int = 0
) -> Mismatch | None:
    """Return why no string that matches `pattern` fits a schema, or None if one may fit."""
    if not isinstance(schema, Mapping) or depth > _MOST_DEPTH:
        return None
    resolved = resolve(schema, root)
    for key in ("anyOf", "oneOf"):
        options = [
            find_pattern_mismatch(pattern, option, root, depth + 1)
            for option in _options_for_strings(resolved.get(key), root)
        ]
        if options and all(options):
            return options[0]
    texts = _strings(listed_values(resolved) or ())
    if texts and not any(can_match(pattern, text) for text in texts):
        return Mismatch(f"one of {format_list(map(repr, texts))}")
    required = resolved.get("pattern")
    if isinstance(required, str) and are_disjoint(pattern, required):
        return Mismatch(f"a string that matches the pattern {required!r}")
    return None


def _options_for_strings(options: list[Any] | None, root: JsonObject) -> list[Any]:
    """Return those options of an `anyOf` or `oneOf` that allow strings."""
    return [o for o in options or () if "string" in (allowed_types(o, root) or ("string",))]


def _find_item_mismatch(
    value: t.Type, schema: JsonObject, root: JsonObject, depth: int, *, as_text: bool
) -> Mismatch | None:
    """Return why the items or values of a list or dict cannot fit a schema, or None if they may.

    Of several alternatives in the schema, only one must allow the type of the value.
    """
    names = json_types(value) or set()
    options = [
        option
        for option in subschemas(schema, "anyOf", "oneOf")
        if names & (allowed_types(option, root) or names)
    ]
    schema = resolve(options[0], root) if len(options) == 1 else schema
    for description, part, possible in _contents(value, schema):
        found = [
            find_type_mismatch(kind, part, root, depth + 1, as_text=as_text) for kind in possible
        ]
        if found and found[0] is not None and all(found):
            return Mismatch(f"{description} {found[0].expectation}", found[0].better)
    return None


def _contents(value: t.Type, schema: JsonObject) -> Iterator[tuple[str, Any, list[t.Type]]]:
    """Yield the values that a list or dict is known to contain.

    Each comes with a description, the schema that applies to it, and its possible types. All items
    of a list of unknown length count as one value.
    """
    items = schema.get("items")
    properties = schema.get("properties") or {}
    match value:
        case t.Mapped(cell) if not cell.open:
            for key in cell.first & properties.keys():
                yield f"a dict whose {key!r} is", properties[key], list(t.members(cell.keys[key]))
        case t.Array() | t.Listing() | t.Tuple() if (
            isinstance(items, Mapping) and "prefixItems" not in schema
        ):
            for item in value.items if isinstance(value, t.Tuple) else (items_of(value),):
                alternatives = t.members(item)
                known = [m for m in alternatives if not isinstance(m, t.Null) and m is not t.NEVER]
                yield "a list in which each item is", items, known
