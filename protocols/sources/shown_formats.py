"""Formats of arguments that the examples or the description of the document contradict."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from protocols.schema import Json, JsonObject, types

_SHAPES = {
    "date": re.compile(r"\d{4}-\d\d-\d\d", re.ASCII),
    "date-time": re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d.*", re.ASCII),
    "uuid": re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"),
}
"""The formats that yield to examples, with the shape of their texts."""
_TIMES = ("date", "date-time")
_OTHER = "other"
"""Stands for a text that has none of these formats."""
_SAMPLE = r"(?:[`'\"(]|e\.g\.,? |example:? |such as |like )"
_PROSE = {
    "date": re.compile(
        rf"YYYY-MM-DD(?![T ]?hh)|{_SAMPLE}\d{{4}}-\d\d-\d\d(?![\d-]|[T ]\d\d:)", re.IGNORECASE
    ),
    "date-time": re.compile(
        rf"YYYY-MM-DD[T ]?hh|{_SAMPLE}\d{{4}}-\d\d-\d\d[T ]\d\d:", re.IGNORECASE
    ),
    _OTHER: re.compile(
        r"\b(?:unix|epoch)[ -]?(?:time|seconds|milliseconds)|\bseconds since\b"
        r"|\bRFC ?2822\b|\bMM/DD\b|\bDD/MM\b",
        re.IGNORECASE,
    ),
}
"""What a description contains if it shows a date, a date and time, or a time in another form."""
_PLACEHOLDERS = ("", "string")


def with_shown_formats(schema: JsonObject, description: str = "") -> dict[str, Any]:
    """Return a schema that allows each format which its own examples and description show.

    A `date-time` whose examples are dates becomes an `anyOf` of both formats. If the examples show
    a text of another form, the format is removed. `description` is that of the
    array whose items the schema describes. A schema without contradictions is returned unchanged.
    """
    found = dict(schema)
    prose = f"{description}\n{found.get('description', '')}"
    if isinstance(items := found.get("items"), dict):
        shown = [*_values(found), *_values(items)]
        return found | {"items": _widen(items, prose, shown)}
    return _widen(found, prose, [*_values(found)])


def _widen(schema: dict[str, Any], prose: str, values: list[Json]) -> dict[str, Any]:
    """Return a schema with the formats that `prose` and `values` show beside its own."""
    form = schema.get("format")
    if form not in _SHAPES or "string" not in (types(schema) or ("string",)):
        return schema
    shown = {form, *(_format_of(value, form) for value in values)}
    if form in _TIMES:
        shown |= {name for name, pattern in _PROSE.items() if pattern.search(prose)}
    if shown == {form}:
        return schema
    rest = {key: part for key, part in schema.items() if key != "format"}
    if _OTHER in shown or "anyOf" in rest:
        return rest
    kind = {"type": rest.get("type", "string")}
    return rest | kind | {"anyOf": [{**kind, "format": name} for name in sorted(shown)]}


def _values(schema: JsonObject) -> Iterator[Json]:
    """Yield the values that a schema shows as examples, as its default or as its choices."""
    for shown in (*_as_list(schema.get("examples")), schema.get("default")):
        yield from _as_list(shown)
    yield from _as_list(schema.get("enum"))


def _as_list(value: Json) -> list[Json]:
    """Return a list as it is, None as an empty list, and another value as a list of one item."""
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def _format_of(value: Json, declared: str) -> str:
    """Return the format of a shown value: `declared`, another time format, or `other`.

    A value that is only a placeholder shows nothing, so it counts as the declared format.
    """
    if value in _PLACEHOLDERS:
        return declared
    fitting = (name for name in (declared, *_TIMES) if _SHAPES[name].fullmatch(str(value)))
    found = next(fitting, _OTHER)
    return found if declared in _TIMES or found == declared else _OTHER
