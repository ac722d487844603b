"""A HAR recording of a browser → the API operations that it used, and what they answered. Nothing is sent.

Secrets do not leave this module: cookies, Authorization and other headers are not kept at all; tokens in queries,
bodies, paths and responses become placeholders (`protocols.secrets`), wherever they stand.
"""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from genson import SchemaBuilder

from protocols.alias import free_alias, identifier
from protocols.errors import SourceUnavailable
from protocols.jsontypes import Json, JsonObject
from protocols.origin import is_url, split_url
from protocols.protocol import Evidence, HttpBinding, ToolProtocol
from protocols.reply import parse
from protocols.secrets import (
    conceals_nothing,
    covered,
    looks_random,
    names_secret,
    placeholder,
    secrets_of,
)
from protocols.sources.arguments import is_json
from protocols.sources.openapi import read_openapi
from protocols.words import singular, snake

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_NO_CALLS = ("beacon", "manifest", "ping")  # browsers' kinds of requests that are JSON and no calls of a page's program
_FORM = "application/x-www-form-urlencoded"
_SHORTEST = 8
"""Characters from which a secret is looked for in other texts."""
_ID = re.compile(
    r"\d+|[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{12,}"
    r"|\d{4}-\d\d(?:-\d\d)?(?:T[\d:.Z+-]+)?|-?\d+(?:\.\d+)?(?:,-?\d+(?:\.\d+)?)+|[A-Za-z]{1,4}-?\d{3,}"
    r"|[a-z]{2,5}_(?=[A-Za-z]*\d)[A-Za-z0-9]{6,}|[^@/\s]+@[^@/\s]+\.[a-z]+"
    r"|(?-i:(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[\w-]{8,})",
    re.IGNORECASE,
)
"""Numbers, UUIDs, hashes, dates, coordinates, `JFK-204`, `cus_9x2y3z`, e-mail addresses, mixed letters and digits."""
_NO_NOUN = re.compile(r"|api|v\d+(?:\.\d+)*", re.IGNORECASE)
_SPELLED = {
    "integer": re.compile(r"0|-?[1-9]\d{0,14}"),
    "number": re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?"),
    "boolean": re.compile("true|false"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """One successful call in a recording: arguments by original name, and what came back, secrets replaced."""

    tool: str
    arguments: JsonObject
    response: Json
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One operation that a recording shows, and its calls in their order, equal ones once."""

    protocol: ToolProtocol
    calls: tuple[RecordedCall, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """One call, not yet redacted. `media`: that of its body, empty where it has none."""

    method: str
    origin: str
    segments: tuple[str, ...]
    query: Mapping[str, list[str]]
    media: str
    body: Json
    response: Json
    credential: bool
    seconds: float


def is_har(document: Json) -> bool:
    """Whether a document is a HAR recording."""
    log = document.get("log") if isinstance(document, Mapping) else None
    return isinstance(log, Mapping) and isinstance(log.get("entries"), list)


def read_har(document: JsonObject, *, where: str, base_url: str | None = None) -> list[Recorded]:
    """The operations of a recording, in the order in which they were first used.

    Kept are calls with JSON answers to one site: that of the page, where it was called, else the one called most. A
    `base_url` that was recorded chooses that host instead; another one is where the operations shall be called.

    Raises:
        SourceUnavailable: it holds no such call that was answered with a success.
    """
    secrets = _Secrets()
    raw = [item for item in document["log"]["entries"] if isinstance(item, Mapping)]
    entries = [entry for item in raw if (entry := _read_entry(item, secrets)) is not None]
    if not entries:
        raise SourceUnavailable(
            f"{where} records no API call: none of its {len(raw)} requests was answered with JSON; record again with "
            "the network panel of the browser open, and save everything as HAR with content."
        )
    operations: dict[tuple[str, str, str], list[_Entry]] = {}
    for entry in _of_one_site(entries, raw, base_url):
        operations.setdefault((entry.origin, _template(entry.segments, secrets), entry.method), []).append(entry)
    moved = base_url if base_url and all(entry.origin != _origin(base_url) for entry in entries) else None
    recorded: dict[str, Recorded] = {}
    for (origin, path, method), found in operations.items():
        described = {
            "openapi": "3.1.0",
            "info": {"title": urlsplit(origin).hostname or origin},
            "servers": [{"url": origin}],
            "paths": {path: {method.lower(): _described(origin, path, found)}},
        }
        (protocol,) = read_openapi(described, where=where, base_url=moved)
        name = free_alias(protocol.name, recorded)  # two hosts may have one path
        recorded[name] = _recorded(replace(protocol, name=name), path, found, secrets)
    return list(recorded.values())


# --- which entries are calls


def _of_one_site(entries: list[_Entry], raw: list[JsonObject], base_url: str | None) -> list[_Entry]:
    if base_url and (asked := [entry for entry in entries if entry.origin == _origin(base_url)]):
        return asked
    sites = Counter(_site(entry.origin) for entry in entries)
    requests = [item["request"] for item in raw if item.get("_resourceType") == "document"]
    pages = [_site(str(request.get("url"))) for request in requests if isinstance(request, Mapping)]
    main = next((site for site in pages if sites[site]), None) or sites.most_common(1)[0][0]
    return [entry for entry in entries if _site(entry.origin) == main]


def _site(url: str) -> str:
    """The part of a host that one owner has: `api.example.co.uk` → `example.co.uk`. An address is its own."""
    host = (urlsplit(url).hostname or "").lower()
    labels = host.split(".")
    if len(labels) < 3 or labels[-1].isdigit() or ":" in host:
        return host
    return ".".join(labels[-3 if len(labels[-1]) == 2 and len(labels[-2]) <= 3 else -2 :])


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme.lower()}://{parts.netloc.lower().rpartition('@')[2]}"


def _read_entry(item: JsonObject, secrets: _Secrets) -> _Entry | None:
    """The call of one entry of a HAR; `None` for what is none. Its secrets are noted."""
    request, response = item.get("request"), item.get("response")
    if not isinstance(request, Mapping) or not isinstance(response, Mapping):
        return None
    headers = _pairs(request.get("headers"))
    for name, text in (*headers, *_pairs(response.get("headers"))):
        secrets.note({name: text})
    for name, text in (*_pairs(request.get("cookies")), *_pairs(response.get("cookies"))):
        secrets.note({"cookie": f"{name}={text}"})
    method, url, status = str(request.get("method", "")).upper(), request.get("url"), response.get("status")
    if method not in _METHODS or not isinstance(url, str) or not is_url(url) or not isinstance(status, int):
        return None
    if not 200 <= status < 300 or item.get("_resourceType") in _NO_CALLS:
        return None
    try:
        split_url(url)
        answer = _answer(response, status)
        media, body = _body(request.get("postData"))
    except ValueError:
        return None
    parts, took, query = urlsplit(url), item.get("time"), dict[str, list[str]]()
    for name, text in parse_qsl(parts.query, keep_blank_values=True):
        query.setdefault(name, []).append(text)
    for value in (query, {name: texts[-1] for name, texts in query.items()}, body, answer):
        secrets.note(value)
    named = [name.lower() for name, text in headers if names_secret(name, text)]
    named += [name.lower() for name, texts in query.items() if any(names_secret(name, text) for text in texts)]
    return _Entry(
        method=method,
        origin=_origin(url),
        segments=tuple(unquote(part) for part in parts.path.split("/")[1:]),
        query=query,
        media=media,
        body=body,
        response=answer,
        credential=any(name != "cookie" and "csrf" not in name for name in named),
        seconds=round(max(took, 0) / 1000, 4) if isinstance(took, int | float) else 0.0,
    )


def _answer(response: JsonObject, status: int) -> Json:
    """The JSON of an answer. Raises `ValueError` for what is no call's."""
    content = response.get("content")
    content = content if isinstance(content, Mapping) else {}
    kind, text = str(content.get("mimeType", "")).partition(";")[0].strip().lower(), content.get("text")
    if not isinstance(text, str) or not text:
        # A recording without contents says so by a size without a text.
        if status in (204, 205) or (is_json(kind) and not content.get("size")):
            return None
        raise ValueError("no content was recorded")
    if kind and not is_json(kind) and kind not in ("text/plain", "application/octet-stream"):
        raise ValueError("no data")
    text = base64.b64decode(text).decode() if content.get("encoding") == "base64" else text
    value = parse(text)
    if not is_json(kind) and not isinstance(value, dict | list):
        raise ValueError("no data")
    return value


def _body(posted: Json) -> tuple[str, Json]:
    """The media type and the value that were sent. Raises `ValueError` for what no tool of ours could send."""
    if not isinstance(posted, Mapping):
        return "", None
    media, text = str(posted.get("mimeType", "")).partition(";")[0].strip().lower(), posted.get("text")
    if media == _FORM:
        pairs = parse_qsl(text, keep_blank_values=True) if isinstance(text, str) and text else None
        return _FORM, dict(pairs or ((name, unquote(value)) for name, value in _pairs(posted.get("params"))))
    if media.startswith("multipart/"):
        raise ValueError("files are not sent")
    return ("application/json", parse(str(text))) if text else ("", None)


def _pairs(items: Json) -> list[tuple[str, str]]:
    listed = [one for one in items if isinstance(one, Mapping)] if isinstance(items, list) else []
    return [(str(one.get("name", "")), str(one.get("value", ""))) for one in listed]


class _Secrets:
    """The secrets of a recording. All of them are noted first, then values are covered."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None

    def note(self, value: Json) -> None:
        """Note the secrets in headers, a query, a body or a response, by their names and by what they look like."""
        for secret in map(str, secrets_of(value, None)):
            token = secret.removeprefix("Bearer ").removeprefix("Basic ")
            self._add(token)
            self._add(unquote(token))
            if token != secret:
                with suppress(ValueError):
                    self._add(base64.b64decode(token).decode().partition(":")[2])

    def covered(self, value: Json) -> Json:
        """`value` with a placeholder for each secret, by its name and wherever else it stands."""

        def cover(leaf: Json) -> Json:
            if isinstance(leaf, str) and conceals_nothing(leaf):
                return leaf
            return self._known.get(str(leaf)) or placeholder(leaf, "h0")

        return covered(value, None, cover, rest=self.clean)

    def clean(self, value: Json) -> Json:
        """A leaf without the secrets that stand in it."""
        if not isinstance(value, str) or len(value) < _SHORTEST or not self._known:
            return value
        if self._pattern is None:
            longest_first = sorted(self._known, key=lambda text: (-len(text), text))
            self._pattern = re.compile("|".join(map(re.escape, longest_first)))
        return self._pattern.sub(lambda found: self._known[found[0]], value)

    def _add(self, secret: str) -> None:
        if len(secret) >= _SHORTEST and secret not in self._known and not conceals_nothing(secret):
            self._known[secret] = placeholder(secret, f"h{len(self._known) + 1}")
            self._pattern = None


# --- what the calls of one operation show


def _template(segments: Sequence[str], secrets: _Secrets) -> str:
    """The template of a path: an identifier or a secret is an argument: `/users/17` → `/users/{user_id}`."""
    parts: list[str] = []
    noun = ""
    for segment in segments:
        if _ID.fullmatch(segment) or looks_random(segment) or secrets.clean(segment) != segment:
            name = free_alias(f"{noun}_id" if noun else "id", {part.strip("{}") for part in parts})
            parts.append(f"{{{name}}}")
        else:
            noun = noun if _NO_NOUN.fullmatch(segment) else singular(snake(segment)) or noun
            parts.append(quote(segment, safe="!$&'()*+,;=:@~"))
    return "/" + "/".join(parts)


def _texts(path: str, entry: _Entry) -> dict[tuple[str, str], list[str]]:
    """What a call said in its path, its query and its form, by place and name."""
    parts = zip(path.split("/")[1:], entry.segments, strict=True)
    found = {("path", part.strip("{}")): [segment] for part, segment in parts if part.startswith("{")}
    found |= {("query", name): texts for name, texts in entry.query.items()}
    return found | ({("form", name): [text] for name, text in entry.body.items()} if entry.media == _FORM else {})


def _described(origin: str, path: str, entries: Sequence[_Entry]) -> dict[str, Any]:
    """An operation of an OpenAPI document: the types of arguments are those of the recorded values."""
    parameters: list[dict[str, Any]] = []
    fields: dict[str, Any] = {}
    said = [_texts(path, entry) for entry in entries]
    for place, name in dict.fromkeys(key for one in said for key in one):
        several = [one[place, name] for one in said if (place, name) in one]
        texts = [text for given in several for text in given]
        secret = place != "path" and any(names_secret(name, text) for text in texts)
        schema: dict[str, Any] = {"type": "string", "x-atc-secret": True} if secret else {"type": _kind(texts)}
        if place == "form":
            fields[name] = schema
        elif place == "path" or not (secret or name == "_"):  # jQuery's `_` keeps caches away
            schema = {"type": "array", "items": schema} if max(map(len, several)) > 1 else schema
            parameters.append({"name": name, "in": place, "schema": schema})
    operation: dict[str, Any] = {"parameters": parameters, "responses": {}}
    if media := max(entry.media for entry in entries):
        bodies = [entry.body for entry in entries if entry.media == media]
        schema = {"type": "object", "properties": fields} if media == _FORM else _sent(bodies)
        operation["requestBody"] = {"content": {media: {"schema": schema}}}
    if all(entry.credential for entry in entries):
        operation["security"] = [{identifier(urlsplit(origin).hostname or origin): []}]
    return operation


def _sent(bodies: Sequence[Json]) -> dict[str, Any]:
    """The schema of what was sent, where it was always an object; none of its fields is required."""
    if not all(isinstance(body, dict) and body for body in bodies):
        return {}
    properties: dict[str, Any] = {}
    for name in dict.fromkeys(name for body in bodies for name in body):
        builder = SchemaBuilder(schema_uri=None)
        values = [body[name] for body in bodies if name in body]
        for value in values:
            builder.add_object(value)
        secret = any(names_secret(name, str(value)) for value in values)
        properties[name] = {"type": "string", "x-atc-secret": True} if secret else builder.to_schema()
    return {"type": "object", "properties": properties}


def _kind(texts: Sequence[str]) -> str:
    """The type of values that travel as text: numbers and truth values where all of them are such."""
    given = [text for text in texts if text]
    fitting = (kind for kind, pattern in _SPELLED.items() if given and all(map(pattern.fullmatch, given)))
    return next(fitting, "string")


def _recorded(protocol: ToolProtocol, path: str, entries: Sequence[_Entry], secrets: _Secrets) -> Recorded:
    calls: dict[str, RecordedCall] = {}
    for entry in entries:
        made = RecordedCall(
            tool=protocol.name,
            arguments=secrets.covered(_arguments(protocol, path, entry)),
            response=secrets.covered(entry.response),
            seconds=entry.seconds,
        )
        calls.setdefault(json.dumps(made.arguments, sort_keys=True), made)
    evidence = Evidence(level="observed", observations=len(calls))
    return Recorded(protocol=replace(protocol, evidence=evidence), calls=tuple(calls.values()))


def _arguments(protocol: ToolProtocol, path: str, entry: _Entry) -> dict[str, Json]:
    """The arguments of one recorded call, by the protocol's names for them."""
    binding = protocol.binding
    assert isinstance(binding, HttpBinding)
    said = _texts(path, entry)
    found: dict[str, Json] = {}
    for name, schema in protocol.parameters.items():
        wire, place = binding.wire_name(name), binding.location(name)
        if name == binding.body_argument:
            found |= {name: entry.body} if entry.media else {}
        elif (place, wire) in said:
            typed = [_typed(text, schema.get("items", schema)["type"]) for text in said[place, wire]]
            found[name] = typed if schema["type"] == "array" else typed[-1]
        elif place == "body" and isinstance(entry.body, dict) and wire in entry.body:
            found[name] = entry.body[wire]
    return found


def _typed(text: str, kind: Json) -> Json:
    pattern = _SPELLED.get(str(kind))
    if pattern is None or not pattern.fullmatch(text):
        return text
    return text == "true" if kind == "boolean" else int(text) if kind == "integer" else float(text)
