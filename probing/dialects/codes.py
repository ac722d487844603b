"""Machine codes of error replies and their parameters: pydantic, zod, ajv, joi, Bean Validation and their kin."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from probing.dialects.formats import JSON_FORMATS
from probing.dialects.listing import read_list
from probing.dialects.naming import fold, identifiers
from probing.dialects.type_words import type_named
from probing.dialects.wanted import ecma
from probing.hint import Hint
from protocols.jsontypes import Json, JsonObject

_MISSING = frozenset({
    "anyempty", "anyrequired", "blank", "fieldrequired", "isrequired", "missing", "missingargument", "missingfield",
    "missingparameter", "missingrequired", "missingrequiredfield", "missingrequiredparameter", "notblank",
    "notempty", "notemptyvalidator", "notnull", "notnullvalidator", "parameterinvalidempty", "parametermissing",
    "required", "requiredfield", "stringempty", "validationrequired", "valueerrormissing", "valuemissing",
})  # fmt: skip
_UNKNOWN = frozenset({
    "additionalproperties", "extraforbidden", "objectunknown", "parameterunknown", "unevaluatedproperties",
    "unexpectedfield", "unexpectedkeywordargument", "unknownargument", "unknownfield", "unknownparameter",
    "unrecognizedkeys", "valueerrorextra",
})  # fmt: skip
_TYPES = {
    "int": "integer", "integer": "integer", "number": "number", "float": "number", "decimal": "number", "bool":
    "boolean", "boolean": "boolean", "list": "array", "array": "array", "tuple": "array", "set": "array", "dict":
    "object", "object": "object", "mapping": "object", "model": "object", "string": "string", "str": "string",
}  # fmt: skip
_TYPED = re.compile(
    r"(?:type_error\.)?(int|integer|float|number|decimal|bool|boolean|list|tuple|set|dict|model|string|str"
    r"|array|object)(?:_parsing(?:_size)?|_type|_from_float|_attributes_type|\.base|\.integer)?$"
    r"|is(Int|Integer|Number|Boolean|String|Array|Object)$|(?:number|array|object|boolean|string)\.base$"
)
_FORMATS = (
    (r"date_from_datetime|^date(?:_(?!time)|$)|value_error\.date$|^isdate$", "date"),
    (
        r"^date_?time|^isdatetime|valueerror\.datetime|datetime_(?:parsing|type|from)|type_error\.datetime|isrfc3339",
        "date-time",
    ),
    (r"uuid|guid", "uuid"),
    (r"email", "email"),
    (r"\bur[li]\b|url_|isurl|^ur[li]$|string\.uri", "uri"),
    (r"ip_?v4", "ipv4"),
)
_VALUES = (
    "allowedValues", "allowed_values", "allowed", "valids", "options", "values", "enum", "enum_values", "choices",
    "permitted", "validValues", "valid_values", "acceptedValues",
)  # fmt: skip
_LOW = ("minimum", "min", "ge", "gte", "min_length", "minLength", "min_value", "minItems", "min_items")
_HIGH = ("maximum", "max", "le", "lte", "max_length", "maxLength", "max_value", "maxItems", "max_items")
_LENGTHS = re.compile(
    r"length|too_?(?:short|long)|items|^string\.(?:min|max|length)|^array\.|^size$|any_str|list\.(?:min|max)",
    re.IGNORECASE,
)


def read_code(code: str, parameters: JsonObject) -> list[Hint]:
    """What a code and its parameters say, argument and text not filled in; empty where they say nothing known."""
    code = "" if re.search(r"[:/]", code) else code  # a URN or a URL
    short = fold(code)
    if short in _MISSING or (short in ("invalidtype", "typeerror") and _received_nothing(parameters)):
        return [Hint(kind="missing")]
    if short in _UNKNOWN:
        return [Hint(kind="unknown")]
    if hint := _values(short, parameters):
        return [hint]
    if bounds := _bounds(code, short, parameters):
        return bounds
    if form := _format(code, short, parameters):
        return [Hint(kind="format", format=form)]
    if pattern := _pattern(parameters):
        return [Hint(kind="pattern", pattern=pattern)]
    if types := _types(code, short, parameters):
        return [Hint(kind="type", types=types)]
    return []


def added_names(parameters: JsonObject) -> list[str]:
    """Names that a complaint about an object itself tells of: what it lacks, or has too much of."""
    found = [parameters.get(key) for key in ("missingProperty", "additionalProperty", "unevaluatedProperty")]
    keys = parameters.get("keys")
    return identifiers([*found, *(keys if isinstance(keys, list) else ())])


def _received_nothing(parameters: JsonObject) -> bool:
    said = str(parameters.get("message", ""))[-40:]
    return parameters.get("received") in ("undefined", "null", "missing", "nothing") or "received undefined" in said


def _values(short: str, parameters: JsonObject) -> Hint | None:
    if "keys" in short or "peer" in short or "xor" in short or "nand" in short:
        return None
    for key in _VALUES:
        given = parameters.get(key)
        if isinstance(given, list) and given and all(v is None or isinstance(v, str | int | float) for v in given):
            values = [v for v in given if not (isinstance(v, Mapping))]
            return Hint(kind="enum", values=tuple(values))
    expected = parameters.get("expected")
    if short in (
        "enum",
        "literalerror",
        "typeerrorenum",
        "invalidenumvalue",
        "invalidliteral",
        "valueerrorconst",
        "const",
    ):
        if isinstance(expected, str):
            listing = read_list(expected)
            if listing.values and listing.whole:
                return Hint(
                    kind="enum", values=listing.values if listing.quoted or short != "invalidliteral" else (expected,)
                )
        for one in (expected, parameters.get("allowedValue")):
            if isinstance(one, str | int | float):
                return Hint(kind="enum", values=(one,))
    return None


def _bounds(code: str, short: str, parameters: JsonObject) -> list[Hint]:
    counted = str(parameters.get("origin") or parameters.get("type") or "").lower()
    length = bool(_LENGTHS.search(code)) or any("ength" in k or "tems" in k for k in parameters if k in _LOW + _HIGH)
    if short in ("toosmall", "toobig"):
        length = counted in ("string", "array", "set", "file")
        if counted in ("date", "file"):
            return []
    low, high = _number(parameters, _LOW), _number(parameters, _HIGH)
    strict_low, strict_high = _number(parameters, ("gt",)), _number(parameters, ("lt",))
    if parameters.get("inclusive") is False:
        low, strict_low = None, low
        high, strict_high = None, high
    limit = _number(parameters, ("limit_value", "limit", "requirement"))
    if limit is not None and low is None and high is None:
        word = f"{code} {parameters.get('comparison', '')}".lower()
        below = re.search(r"max|not_le|not_lt|less|<|long|\ble\b|\blt\b|exclusivemax", word)
        above = re.search(r"min|not_ge|not_gt|greater|>|short|\bge\b|\bgt\b", word)
        strict = (
            re.search(r"not_[gl]t\b|exclusive|greater$|less$|greater_than$|less_than$|(?:^|\s)[<>]$", word) is not None
        )
        if below and not above:
            low, high, strict_high = None, None if strict else limit, limit if strict else None
        elif above and not below:
            low, strict_low = None if strict else limit, limit if strict else None
        elif re.search(r"length$", word):
            low = high = limit
    if low is None and high is None and strict_low is None and strict_high is None:
        return []
    return [
        Hint(
            kind="length" if length else "range",
            minimum=low if low is not None else strict_low,
            maximum=high if high is not None else strict_high,
            exclusive_minimum=low is None and strict_low is not None,
            exclusive_maximum=high is None and strict_high is not None,
        )
    ]


def _number(parameters: JsonObject, keys: tuple[str, ...]) -> float | None:
    for key in keys:
        value = parameters.get(key)
        if isinstance(value, str) and re.fullmatch(r"-?\d{1,15}(?:\.\d{1,9})?", value):
            value = float(value) if "." in value else int(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300:
            return value
    return None


def _pattern(parameters: JsonObject) -> str:
    for key in ("pattern", "regex", "regexp"):
        value = parameters.get(key)
        if isinstance(value, str) and 0 < len(value) <= 300:
            found = re.fullmatch(r"/(.*)/[a-z]*", value)
            return ecma(found[1] if found else value)
    validation: Any = parameters.get("validation")
    return ecma(str(validation["regex"])[:300]) if isinstance(validation, Mapping) and "regex" in validation else ""


def _format(code: str, short: str, parameters: JsonObject) -> str:
    for key in ("format", "validation"):
        named = parameters.get(key)
        if isinstance(named, str):
            named = {"datetime": "date-time", "url": "uri", "guid": "uuid"}.get(named, named)
            if named in JSON_FORMATS:
                return named
    if short in ("invalidformat", "invalidstring", "custom", "invalid"):
        return ""
    return next((name for words, name in _FORMATS if re.search(words, code.lower())), "")


def _types(code: str, short: str, parameters: JsonObject) -> tuple[str, ...]:
    if short in ("invalidtype", "type", "invalidtypeerror", "typemismatch"):
        for key in ("expected", "type", "requiredType"):
            named: Json = parameters.get(key)
            listed = named if isinstance(named, list) else re.split(r"[,|]", named) if isinstance(named, str) else []
            types = [_TYPES.get(str(t).strip().lower()) or type_named(str(t)) for t in listed]
            if types and all(types):
                return tuple(dict.fromkeys(t for t in types if t))
        return ()
    if code.endswith(".integer"):
        return ("integer",)
    match = _TYPED.match(code)
    if match is None:
        return ()
    word = (match[1] or match[2] or code.split(".")[0]).lower()
    return (_TYPES[word],) if word in _TYPES else ()
