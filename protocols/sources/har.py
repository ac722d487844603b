"""Reads a HAR recording of a browser as tools for the API operations in it. Nothing is sent.

Only names and types of arguments are kept, no values and no responses, so no secret is kept.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, unquote, unquote_plus

from genson import SchemaBuilder

from protocols.effects import annotate_effects
from protocols.errors import SourceUnavailable
from protocols.naming import FreeNames, identifier, singular, snake
from protocols.protocol import Evidence, Location, ToolProtocol
from protocols.response import parse_json
from protocols.schema import Json, JsonObject, as_mapping, items_of_type
from protocols.secrets.names import is_secret, looks_random
from protocols.sources.operation import FORM_TYPES, OperationArguments, is_json, readable_name
from protocols.urls import Origin, split_url

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_ID = re.compile(r"(?![A-Za-z]+\d{1,2}$)(?!\d+\.\d+$).*\d.*|.+@.+")
"""Matches an id, that is, text with a digit or an e-mail address.

Words with a short number (`v2`, `oauth2`) and versions (`2.0`) are not ids.
"""
_LITERAL = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?|true|false")

_HarArguments = dict[tuple[Location, str], Json]
"""Arguments of one call, keyed by (location, name). A body that is not an object has the name "".
"""


class _Entry(NamedTuple):
    """One recorded call.

    `segments` are the segments of its URL path. `other_arguments` are the arguments in the query
    and the body. `credential` is True if the call carried a secret. `media` is the media type of
    its body if that is unusual, else "".
    """

    method: str
    origin: Origin
    segments: Sequence[str]
    other_arguments: _HarArguments
    credential: bool
    media: str


def is_har(document: Json) -> bool:
    """Return True if a document is a HAR recording."""
    log = document.get("log") if isinstance(document, Mapping) else None
    return isinstance(log, Mapping) and isinstance(log.get("entries"), list)


def read_har(
    document: JsonObject, *, where: str, base_url: str | None = None
) -> list[ToolProtocol]:
    """Return the operations in a recording as tools, in the order of their first use.

    Only calls to the origin with the most calls are kept, and only those with a JSON response. If
    `base_url` is another origin in the recording, that origin is used instead. Any other `base_url`
    is the address at which the operations will be called.

    Raises:
        SourceUnavailable: there is no successful call with a JSON response.
    """
    items = document["log"]["entries"]
    entries = [entry for entry in map(_entry, items) if entry is not None]
    if not entries:
        problem = (
            f"{where} records no API call: none of its {len(items)} requests was answered with JSON"
        )
        advice = (
            "record again with the network panel of the browser open, and save everything as HAR"
        )
        raise SourceUnavailable(f"{problem}; {advice}.")
    called = Counter(entry.origin for entry in entries)
    named = split_url(base_url)[0] if base_url else None
    origin = named if named and called.keys() & {*named.names} else called.most_common(1)[0][0]
    server = base_url.rstrip("/") if base_url and origin != named else origin.url
    operations: dict[tuple[str, str], list[_Entry]] = {}
    for entry in entries:
        if entry.origin in origin.names:
            operations.setdefault((entry.method, _template(entry.segments)), []).append(entry)
    free = FreeNames()
    found = operations.items()
    return annotate_effects(
        [_operation(free(readable_name(*place)), server, place[1], calls) for place, calls in found]
    )


# --- calls in a recording


def _entry(item: Json) -> _Entry | None:
    """Return the call in one entry of a recording.

    Return None if it is not a successful call with a JSON response.
    """
    match item:
        case {
            "request": {"method": str(method), "url": str(url)} as asked,
            "response": {"status": int(status)} as got,
        } if method in _METHODS and _is_success(status, got):
            pass
        case _:
            return None
    try:
        origin, rest = split_url(url)
        media, body = _body(as_mapping(asked.get("postData")))
    except ValueError:
        return None
    path, _, query = rest.partition("?")
    queried = parse_qsl(query, keep_blank_values=True)
    headers = [
        (str(one.get("name")), one.get("value"))
        for one in items_of_type(asked.get("headers"), Mapping)
    ]
    return _Entry(
        method,
        origin,
        [unquote(part) for part in path.split("/")[1:]],
        _query_arguments(queried) | body,
        _has_credential([*headers, *queried]),
        media,
    )


def _is_success(status: int, response: JsonObject) -> bool:
    """Return True for a response with a 2xx status and a JSON body, or without any body."""
    media = str(as_mapping(response.get("content")).get("mimeType"))
    return status in (204, 205) or (200 <= status < 300 and is_json(media))


def _query_arguments(pairs: Sequence[tuple[str, str]]) -> _HarArguments:
    """Return the arguments in the query of a recorded call, without secrets.

    When the tool is called, a credential replaces the secrets. `pairs` are the names and values.
    """
    values = dict[str, list[Json]]()
    for name, text in pairs:
        if not is_secret(name, text):
            values.setdefault(name, []).append(_convert_text(text))
    return {
        ("query", name): several if len(several) > 1 else several[0]
        for name, several in values.items()
    }


def _has_credential(pairs: Sequence[tuple[str, Any]]) -> bool:
    """Return True if a header or a query parameter contains a secret.

    `pairs` are their names and values. Cookies and tokens against request forgery (CSRF) do not
    count.
    """
    names = [name.lower() for name, text in pairs if is_secret(name, text)]
    return any(name != "cookie" and "csrf" not in name for name in names)


def _body(posted: JsonObject) -> tuple[str, _HarArguments]:
    """Return the media type and the arguments of a recorded request body.

    The media type is "" if it is a usual one, such as `application/json`.

    Raises:
        ValueError: the body is neither JSON nor a form, so tools cannot send it.
    """
    media = str(posted.get("mimeType")).partition(";")[0].strip().lower()
    text = str(posted.get("text") or "")
    usual_form = media == FORM_TYPES[0]
    if usual_form and text:
        pairs = parse_qsl(text, keep_blank_values=True)
        return "", {("form", name): _convert_text(value) for name, value in pairs}
    fields = items_of_type(posted.get("params"), Mapping)
    if media in FORM_TYPES and fields:
        return "" if usual_form else media, dict(map(_form_argument, fields))
    value = parse_json(text) if text else {}
    members = value if isinstance(value, dict) else {"": value}
    given: _HarArguments = {("body", name): part for name, part in members.items()}
    return media if media.endswith("+json") else "", given


def _form_argument(field: JsonObject) -> tuple[tuple[Location, str], Json]:
    """Return ((location, name), value) for a recorded form field."""
    name = unquote_plus(str(field.get("name")))
    value = b"" if "fileName" in field else _convert_text(str(field.get("value")))
    return ("form", name), value


def _convert_text(text: str) -> Json:
    """Return the number or boolean that a text contains, else the text."""
    return json.loads(text) if _LITERAL.fullmatch(text) else text


# --- operations as tools


def _template(segments: Sequence[str]) -> str:
    """Return the template of a recorded path, in which ids are variables.

    For example, `/users/17` becomes `/users/{user_id}`.
    """
    parts: list[str] = []
    noun = ""
    for segment in segments:
        if _ID.fullmatch(segment) or looks_random(segment):
            name = FreeNames(part.strip("{}") for part in parts)(f"{noun}_id" if noun else "id")
            parts.append(f"{{{name}}}")
        else:
            noun = singular(snake(segment)) or noun
            parts.append(quote(segment, safe="!$&'()*+,;=:@~"))
    return "/" + "/".join(parts)


def _operation(name: str, server: str, path: str, entries: Sequence[_Entry]) -> ToolProtocol:
    """Return the description of an operation, derived from its recorded calls (`entries`)."""
    given = []
    for entry in entries:
        parts = zip(path.split("/")[1:], entry.segments, strict=True)
        sent: _HarArguments = {
            ("path", part[1:-1]): _convert_text(segment)
            for part, segment in parts
            if part.startswith("{")
        }
        given.append(sent | entry.other_arguments)
    arguments = OperationArguments(media=entries[0].media)
    for place, wire in dict.fromkeys(key for one in given for key in one):
        schema = _schema(wire, [one[place, wire] for one in given if (place, wire) in one])
        arguments.add(wire, place, schema, required=place == "path")
    host = entries[0].origin.host
    return arguments.protocol(
        name,
        entries[0].method,
        server + path,
        bound={
            "credentials": (identifier(host),) if all(entry.credential for entry in entries) else ()
        },
        collection=host,
        evidence=Evidence(level="observed", observations=len(entries)),
    )


def _schema(name: str, values: Sequence[Json]) -> dict[str, Any]:
    """Return the schema of an argument, derived from its recorded values."""
    if any(is_secret(name, value) for value in values):
        return {"type": "string", "x-atc-secret": True}
    if b"" in values:
        return {"type": "string", "format": "binary"}
    builder = SchemaBuilder(schema_uri=None)
    for value in values:
        builder.add_object(value)
    schema: dict[str, Any] = builder.to_schema()
    return schema
