"""A HAR recording of a browser → the API operations that it used. Nothing is sent.

No value leaves this module, and so no secret: of arguments their names and types are kept, of answers nothing.
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
"""What has a digit, but no word with a short number (`v2`, `oauth2`) and no version (`2.0`); or an e-mail address."""
_LITERAL = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?|true|false")

_HarArguments = dict[tuple[Location, str], Json]
"""The arguments of one call, by their place and their name in the request; a body that is no object has no name."""


class _Entry(NamedTuple):
    """One call; `given` without what stands in the path."""

    method: str
    origin: Origin
    segments: Sequence[str]
    other_arguments: _HarArguments
    credential: bool
    media: str


def is_har(document: Json) -> bool:
    """Whether a document is a HAR recording."""
    log = document.get("log") if isinstance(document, Mapping) else None
    return isinstance(log, Mapping) and isinstance(log.get("entries"), list)


def read_har(
    document: JsonObject, *, where: str, base_url: str | None = None
) -> list[ToolProtocol]:
    """The operations of a recording, in the order in which they were first used.

    Kept are calls with JSON answers to one origin: the one called most. A `base_url` that was recorded chooses that
    origin instead; another one is where the operations shall be called.

    Raises:
        SourceUnavailable: it holds no such call that was answered with a success.
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
    origin = named if named and named in called else called.most_common(1)[0][0]
    server = base_url.rstrip("/") if base_url and origin != named else origin.url
    operations: dict[tuple[str, str], list[_Entry]] = {}
    for entry in entries:
        if entry.origin == origin:
            operations.setdefault((entry.method, _template(entry.segments)), []).append(entry)
    free = FreeNames()
    found = operations.items()
    return annotate_effects(
        [_operation(free(readable_name(*place)), server, place[1], calls) for place, calls in found]
    )


# --- which entries are calls


def _entry(item: Json) -> _Entry | None:
    """The call of one entry of a HAR; `None` for what is none, or was not answered with JSON."""
    match item:
        case {
            "request": {"method": str(method), "url": str(url)} as asked,
            "response": {"status": int(status)} as got,
        }:
            media = str(as_mapping(got.get("content")).get("mimeType"))
        case _:
            return None
    if method not in _METHODS or not (
        status in (204, 205) or (200 <= status < 300 and is_json(media))
    ):
        return None
    try:
        (origin, rest), (media, body) = split_url(url), _body(as_mapping(asked.get("postData")))
    except ValueError:
        return None
    path, _, query = rest.partition("?")
    queried = parse_qsl(query, keep_blank_values=True)
    several = dict[str, list[Json]]()
    for name, text in queried:
        if not is_secret(name, text):  # the tool's credential takes its place
            several.setdefault(name, []).append(_convert_text(text))
    given: _HarArguments = {
        ("query", name): texts if len(texts) > 1 else texts[0] for name, texts in several.items()
    }
    headers = [
        (str(one.get("name")), one.get("value"))
        for one in items_of_type(asked.get("headers"), Mapping)
    ]
    credentials = [name.lower() for name, text in (*headers, *queried) if is_secret(name, text)]
    credential = any(name != "cookie" and "csrf" not in name for name in credentials)
    return _Entry(
        method,
        origin,
        [unquote(part) for part in path.split("/")[1:]],
        given | body,
        credential,
        media,
    )


def _body(posted: JsonObject) -> tuple[str, _HarArguments]:
    """What was sent as JSON or as a form, and its media type where it is no usual one.

    Raises `ValueError` for what no tool of ours could send.
    """
    media = str(posted.get("mimeType")).partition(";")[0].strip().lower()
    text = str(posted.get("text") or "")
    if media == FORM_TYPES[0] and text:
        return "", {
            ("form", name): _convert_text(value)
            for name, value in parse_qsl(text, keep_blank_values=True)
        }
    if media in FORM_TYPES and (fields := items_of_type(posted.get("params"), Mapping)):
        values = [
            b"" if "fileName" in one else _convert_text(str(one.get("value"))) for one in fields
        ]
        names = [unquote_plus(str(one.get("name"))) for one in fields]
        sent: _HarArguments = {
            ("form", name): value for name, value in zip(names, values, strict=True)
        }
        return media if media != FORM_TYPES[0] else "", sent
    value = parse_json(text) if text else {}
    given: _HarArguments = {
        ("body", k): part for k, part in (value if isinstance(value, dict) else {"": value}).items()
    }
    return media if media.endswith("+json") else "", given


def _convert_text(text: str) -> Json:
    """What travels as text: a number or a truth value where it spells one."""
    return json.loads(text) if _LITERAL.fullmatch(text) else text


# --- what the calls of one operation show


def _template(segments: Sequence[str]) -> str:
    """The template of a path: an identifier or a key is an argument: `/users/17` → `/users/{user_id}`."""
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
    """The schema of what was sent under a name."""
    if any(is_secret(name, value) for value in values):
        return {"type": "string", "x-atc-secret": True}
    if b"" in values:
        return {"type": "string", "format": "binary"}
    builder = SchemaBuilder(schema_uri=None)
    for value in values:
        builder.add_object(value)
    schema: dict[str, Any] = builder.to_schema()
    return schema
