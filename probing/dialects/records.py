"""Lists of complaints, each an object with a place and words: FastAPI, colander, JSON:API, joi, zod, ajv, Google …"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from probing.dialects.complaint import Complaint
from probing.dialects.naming import Names, fold, steps
from protocols.jsontypes import Json

MAX_RECORDS = 60
_MAX_NODES = 5_000
_WORDS = (
    "msg", "message", "description", "detail", "defaultMessage", "reason", "errorMessage", "error_message", "title",
    "problem", "issue", "error", "text", "why", "hint", "info", "help",
)  # fmt: skip
_CODES = (
    "code",
    "type",
    "keyword",
    "rule",
    "errorCode",
    "error_code",
    "constraint",
    "kind",
    "errorType",
    "reason",
    "error",
)
_INSIDE = (
    "ctx",
    "params",
    "context",
    "meta",
    "arguments",
    "args",
    "attributes",
    "formattedMessagePlaceholderValues",
    "constraints",
)
_SURE = (
    "loc", "instancePath", "dataPath", "instance_path", "field", "fieldName", "field_name", "propertyPath",
    "propertyName", "property_path", "param", "parameter", "parameterName", "param_name", "argument", "arg",
    "pointer", "attribute",
)  # fmt: skip
"""Keys whose value is certainly the name of an argument, or a path to one."""
_MAYBE = (
    "path",
    "property",
    "name",
    "key",
    "target",
    "variable",
    "column",
    "input_name",
    "input",
    "source",
    "location",
)


def read_records(document: Json, names: Names) -> Iterator[tuple[Mapping[str, Any], Complaint]]:
    """Every complaint of a document with the object that holds it. What lies inside such an object is not looked at."""
    queue: list[Json] = [document]
    seen = found = 0
    while queue and seen < _MAX_NODES and found < MAX_RECORDS:
        node = queue.pop(0)
        seen += 1
        if isinstance(node, list):
            queue += [item for item in node if isinstance(item, dict | list)]
        elif isinstance(node, dict):
            complaint = _complaint(node, names)
            if complaint is not None:
                found += 1
                yield node, complaint
            nested = complaint is None or _only_of_the_whole(complaint)
            queue += [
                item
                for key, item in node.items()
                if isinstance(item, dict | list) and nested and key not in ("input", "value")
            ]


def _only_of_the_whole(complaint: Complaint) -> bool:
    return not complaint.path


def _complaint(node: Mapping[str, Any], names: Names) -> Complaint | None:
    words = [text for key in _WORDS if isinstance(text := node.get(key), str) and text]
    code = next((c for key in _CODES if isinstance(c := node.get(key), str) and c and " " not in c), "")
    if isinstance(node.get("constraints"), dict):  # class-validator: {"isInt": "limit must be an integer number"}
        words += [text for text in list(node["constraints"].values())[:20] if isinstance(text, str)]
    if not words and not code:
        return None
    placed = _place(node, names)
    if placed is None:
        return None
    path, sure = placed
    inside: dict[str, Json] = dict(node)
    for key in _INSIDE:
        if isinstance(node.get(key), dict):
            inside |= node[key]
    if "locations" in node or "timestamp" in node:  # GraphQL's and Spring's `path` is no argument's
        return None
    return Complaint(path=path, text=". ".join(dict.fromkeys(words)), code=code, parameters=inside, sure=sure)


def _place(node: Mapping[str, Any], names: Names) -> tuple[tuple[str, ...], bool] | None:
    """The path that an object gives, and whether it certainly leads to an argument; `None` where it gives none."""
    for read in (_source, _name):
        if (found := read(node)) is not None:
            return found
    for key in (*_SURE, *_MAYBE):
        value = node.get(key)
        if isinstance(value, list) and key != "input":
            if all(isinstance(step, str | int) for step in value) and (value or key in ("path", "loc")):
                return (*_travels(node), *(str(step) for step in value[:20])), True
        elif isinstance(value, str) and len(value) <= 300:
            if not value and key in ("instancePath", "dataPath"):
                return (), True  # ajv, of the request itself
            path = (value,) if names.known(value) else tuple(steps(value))
            place = names.at(path)
            if path and (key in _SURE or (key == "path" and _travels(node)) or (place is not None and place.known)):
                return path, True
    return None


def _source(node: Mapping[str, Any]) -> tuple[tuple[str, ...], bool] | None:
    """JSON:API: `{"source": {"pointer": "/data/attributes/limit"}}`."""
    source = node.get("source")
    if not isinstance(source, dict):
        return None
    if isinstance(pointer := source.get("pointer"), str):
        return tuple(steps(pointer)), True
    if isinstance(parameter := source.get("parameter"), str):
        return (parameter,), True
    return (("header", *steps(header)), True) if isinstance(header := source.get("header"), str) else None


def _name(node: Mapping[str, Any]) -> tuple[tuple[str, ...], bool] | None:
    name, location = node.get("name"), node.get("location")
    if isinstance(name, str) and (travels := _travels(node)):
        return (*travels, name), True  # colander: {"location": "querystring", "name": "_limit"}
    if node.get("locationType") in ("parameter", "header") and isinstance(location, str):
        return (location,), node["locationType"] == "parameter"  # Google's older APIs
    if isinstance(name, str) and "reason" in node and not isinstance(location, str):
        return (name,), True  # invalid-params of RFC 7807
    return None


def _travels(node: Mapping[str, Any]) -> tuple[str, ...]:
    """Where the argument travels, if the object says so: `{"path": "limit", "location": "query"}`."""
    where = node.get("location") or node.get("in") or node.get("locationType")
    return (fold(where),) if isinstance(where, str) and fold(where) in _PLACE_WORDS else ()


_PLACE_WORDS = frozenset({
    "body", "cookie", "cookies", "form", "header", "headers", "json", "params", "path", "pathparameter", "query",
    "queryparameter", "querystring", "request", "url",
})  # fmt: skip
