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
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from protocols.alias import free_alias, identifier
from protocols.errors import Outcome, SourceUnavailable
from protocols.jsontypes import Json, JsonObject
from protocols.origin import is_url, split_url
from protocols.protocol import Evidence, HttpBinding, ToolProtocol
from protocols.reply import one_line, outcome_of, parse
from protocols.schema import type_name
from protocols.secrets import (
    PLACEHOLDER,
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
_NO_CALLS = frozenset({"beacon", "font", "image", "manifest", "media", "ping", "script", "stylesheet"})
"""Browsers' kinds of requests that are no calls of a page's program. (A document may be one, opened by hand.)"""
_SHORTEST, _SURELY = 8, 16
"""Characters from which a secret is looked for in other texts, and from which any cookie is one."""
_EXAMPLES, _LONGEST_EXAMPLE = 5, 200
_SCHEME = re.compile(r"(?:Basic|Bearer|Token|ApiKey|Digest)\s+", re.IGNORECASE)
_ID = re.compile(
    r"\d+|[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{12,}"
    r"|\d{4}-\d\d(?:-\d\d)?(?:T[\d:.Z+-]+)?|-?\d+(?:\.\d+)?(?:,-?\d+(?:\.\d+)?)+|[A-Za-z]{1,4}-?\d{3,}"
    r"|[a-z]{2,5}_(?=[A-Za-z]*\d)[A-Za-z0-9]{6,}|[^@/\s]+@[^@/\s]+\.[a-z]+"
    r"|(?-i:(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[\w-]{8,})",
    re.IGNORECASE,
)
"""Numbers, UUIDs, hashes, dates, coordinates, `JFK-204`, `cus_9x2y3z`, e-mail addresses, mixed letters and digits."""
_NO_NOUN = re.compile(
    r"|api|rest|graphql|public|private|internal|services?|rpc|json|ajax|v\d+(?:\.\d+)*", re.IGNORECASE
)
_SPELLED = {
    "integer": re.compile(r"0|-?[1-9]\d{0,14}"),
    "number": re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?"),
    "boolean": re.compile("true|false"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """One call in a recording: arguments by original name, and what came back, secrets replaced.

    `response` is set where `outcome` is *done*; else `error` says in one line what came, and `answer` has its text.
    """

    tool: str
    arguments: JsonObject = field(default_factory=dict)
    status: int = 200
    outcome: Outcome = "done"
    response: Json = None
    error: str = ""
    answer: str | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One operation that a recording shows, and its calls in their order, equal ones once."""

    protocol: ToolProtocol
    calls: tuple[RecordedCall, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """One call, not yet redacted. `media`: what was sent, `json`, `form` or empty."""

    method: str
    origin: str
    segments: tuple[str, ...]
    query: tuple[tuple[str, str], ...]
    media: str
    body: Json
    status: int
    response: Json
    credential: bool
    seconds: float

    @property
    def answered(self) -> bool:
        return 200 <= self.status < 300


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
    if not any(entry.answered for entry in entries):
        raise SourceUnavailable(
            f"{where} records no API call: none of its {len(raw)} requests was answered with JSON; record again with "
            "the network panel of the browser open, and save everything as HAR with content."
        )
    operations: dict[tuple[str, str, str], list[_Entry]] = {}
    for entry in _of_one_site(entries, raw, base_url):
        operations.setdefault((entry.origin, _template(entry.segments, secrets), entry.method), []).append(entry)
    operations = {key: found for key, found in operations.items() if any(entry.answered for entry in found)}
    moved = base_url if base_url and all(entry.origin != _origin(base_url) for entry in entries) else None
    recorded: dict[str, Recorded] = {}
    for (origin, path, method), found in operations.items():
        document = {
            "openapi": "3.1.0",
            "info": {"title": urlsplit(origin).hostname or origin},
            "servers": [{"url": origin}],
            "paths": {path: {method.lower(): _described(origin, path, found, secrets)}},
        }
        (protocol,) = read_openapi(document, where=where, base_url=moved)
        name = free_alias(protocol.name, recorded)  # two hosts may have one path
        recorded[name] = _recorded(replace(protocol, name=name), path, found, secrets)
    return list(recorded.values())


def _recorded(protocol: ToolProtocol, path: str, entries: Sequence[_Entry], secrets: _Secrets) -> Recorded:
    calls: dict[str, RecordedCall] = {}
    for entry in entries:
        arguments, response = secrets.covered(_arguments(protocol, path, entry)), secrets.covered(entry.response)
        made = RecordedCall(tool=protocol.name, arguments=arguments, status=entry.status, seconds=entry.seconds)
        if entry.answered:
            made = replace(made, response=response)
        else:
            text = response if isinstance(response, str) else json.dumps(response, ensure_ascii=False)
            outcome = outcome_of(entry.status, reads=not protocol.writes)
            made = replace(made, outcome=outcome, error=one_line(text), answer=text)
        calls.setdefault(json.dumps([made.arguments, made.outcome], sort_keys=True), made)
    evidence = Evidence(level="observed", observations=sum(call.outcome == "done" for call in calls.values()))
    return Recorded(protocol=replace(protocol, evidence=evidence), calls=tuple(calls.values()))


def _of_one_site(entries: list[_Entry], raw: list[JsonObject], base_url: str | None) -> list[_Entry]:
    if base_url and (asked := [entry for entry in entries if entry.origin == _origin(base_url)]):
        return asked
    sites = Counter(_site(entry.origin) for entry in entries if entry.answered)
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
    size = 3 if len(labels[-1]) == 2 and len(labels[-2]) <= 3 else 2
    return ".".join(labels[-size:])


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme.lower()}://{parts.netloc.lower().rpartition('@')[2]}"


def _read_entry(item: JsonObject, secrets: _Secrets) -> _Entry | None:
    """The call of one entry of a HAR; `None` for what is none. Its secrets are noted."""
    request, response = item.get("request"), item.get("response")
    if not isinstance(request, Mapping) or not isinstance(response, Mapping):
        return None
    headers = _pairs(request.get("headers"))
    secrets.note_headers([*headers, *_pairs(response.get("headers"))])
    secrets.note_cookies([*_pairs(request.get("cookies")), *_pairs(response.get("cookies"))])
    method, url, status = str(request.get("method", "")).upper(), request.get("url"), response.get("status")
    if method not in _METHODS or not isinstance(url, str) or not is_url(url) or not isinstance(status, int):
        return None
    if not (200 <= status < 300 or 400 <= status < 600) or str(item.get("_resourceType")) in _NO_CALLS:
        return None
    try:
        split_url(url)
        answer = _answer(response, status)
        media, body = _body(request.get("postData"))
    except ValueError:
        return None
    parts, took = urlsplit(url), item.get("time")
    query = tuple(parse_qsl(parts.query, keep_blank_values=True))
    for value in (dict(query), body, answer):
        secrets.note(value)
    named = [name.lower() for name, value in (*headers, *query) if names_secret(name, value)]
    return _Entry(
        method=method,
        origin=_origin(url),
        segments=tuple(unquote(part) for part in parts.path.split("/")[1:]),
        query=query,
        media=media,
        body=body,
        status=status,
        response=answer,
        credential=any(name != "cookie" and "csrf" not in name for name in named),
        seconds=round(max(took, 0) / 1000, 4) if isinstance(took, int | float) else 0.0,
    )


def _answer(response: JsonObject, status: int) -> Json:
    """The JSON of an answer; of an error, its text where it has no JSON. Raises `ValueError` for what is no call's."""
    content = response.get("content")
    content = content if isinstance(content, Mapping) else {}
    kind = str(content.get("mimeType", "")).partition(";")[0].strip().lower()
    text = content.get("text")
    if not isinstance(text, str) or not text:
        # A recording without contents says so by a size without a text.
        if status in (204, 205) or (is_json(kind) and not content.get("size")):
            return None
        raise ValueError("no content was recorded")
    if content.get("encoding") == "base64":
        text = base64.b64decode(text).decode()
    if kind and not is_json(kind) and kind not in ("text/plain", "application/octet-stream"):
        raise ValueError("no data")
    try:
        value = parse(text)
    except ValueError:
        if status >= 400:
            return text
        raise
    if not is_json(kind) and not isinstance(value, dict | list):
        raise ValueError("no data")
    return value


def _body(posted: Json) -> tuple[str, Json]:
    """What was sent: its kind and its value."""
    if not isinstance(posted, Mapping):
        return "", None
    media, text = str(posted.get("mimeType", "")).partition(";")[0].strip().lower(), posted.get("text")
    if media.startswith("multipart/"):
        raise ValueError("no tool of ours could send it")
    if media == "application/x-www-form-urlencoded":
        if isinstance(text, str) and text:
            return "form", dict(parse_qsl(text, keep_blank_values=True))
        return "form", {name: unquote(value) for name, value in _pairs(posted.get("params"))}
    return ("json", parse(str(text))) if text else ("", None)


def _pairs(items: Json) -> list[tuple[str, str]]:
    listed = [one for one in items if isinstance(one, Mapping)] if isinstance(items, list) else []
    return [(str(one.get("name", "")), str(one.get("value", ""))) for one in listed]


class _Secrets:
    """The secrets of a recording. All of them are noted first, then values are covered."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None

    def note_headers(self, headers: Sequence[tuple[str, str]]) -> None:
        for name, value in headers:
            lower = name.lower()
            if lower in ("cookie", "set-cookie"):
                parts = value.split(";") if lower == "cookie" else [line.split(";")[0] for line in value.split("\n")]
                self.note_cookies([(part.partition("=")[0], part.partition("=")[2]) for part in parts])
            elif lower in ("authorization", "proxy-authorization"):
                given = _SCHEME.sub("", value, count=1)
                self._add(given)
                try:
                    self._add(base64.b64decode(given).decode().partition(":")[2])
                except ValueError:
                    continue
            elif names_secret(name, value):
                self._add(value)

    def note_cookies(self, cookies: Sequence[tuple[str, str]]) -> None:
        for name, value in cookies:
            text = unquote(value.strip())
            mixed = any(map(str.isdigit, text)) and any(map(str.isalpha, text))
            if names_secret(name.strip(), text) or len(text) >= _SURELY or mixed:
                self._add(text)
                self._add(value.strip())

    def note(self, value: Json) -> None:
        """Note the secrets in a query, a body or a response, by their names and by what they look like."""
        for secret in secrets_of(value, None):
            self._add(str(secret))

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


def _template(segments: Sequence[str], secrets: _Secrets) -> str:
    """The template of a path: an identifier or a secret is an argument: `/users/17` → `/users/{user_id}`."""
    named: list[str] = []
    noun, taken = "", Counter[str]()
    for segment in segments:
        suffix = next((end for end in (".json", ".xml") if segment.endswith(end)), "")
        stem = segment.removesuffix(suffix)
        if not (_ID.fullmatch(stem) or looks_random(stem)) and secrets.clean(segment) == segment:
            noun = noun if _NO_NOUN.fullmatch(segment) else singular(snake(segment)) or noun
            named.append(quote(segment, safe="!$&'()*+,;=:@~"))
            continue
        name = f"{noun}_id" if noun else "id"
        taken[name] += 1
        named.append(f"{{{name if taken[name] == 1 else f'{name}_{taken[name]}'}}}{suffix}")
    return "/" + "/".join(named)


def _described(origin: str, path: str, entries: Sequence[_Entry], secrets: _Secrets) -> dict[str, Any]:
    """An operation of an OpenAPI document: types and examples of arguments are those of the recorded values."""
    parameters = []
    for at, part in enumerate(path.split("/")[1:]):
        if part.startswith("{"):
            name, _, suffix = part[1:].partition("}")
            texts = [entry.segments[at].removesuffix(suffix) for entry in entries]
            parameters.append({"name": name, "in": "path", "required": True, "schema": _of_texts(texts, secrets)})
    for name in dict.fromkeys(name for entry in entries for name, _ in entry.query):
        asked = [[value for key, value in entry.query if key == name] for entry in entries]
        texts = [value for given in asked for value in given]
        against_caches = name.strip("_") in ("", "t", "ts", "cb") and all(re.fullmatch(r"\d{10,16}", t) for t in texts)
        if not against_caches and not any(names_secret(name, text) for text in texts):
            one = _of_texts(texts, secrets)
            several = any(len(given) > 1 for given in asked)
            schema = {"type": "array", "items": one} if several else one
            parameters.append({"name": name, "in": "query", "schema": schema})
    operation: dict[str, Any] = {"parameters": parameters, "responses": {}}
    if kind := max((entry.media for entry in entries), default=""):
        bodies = [entry.body for entry in entries if entry.media == kind]
        media = "application/json" if kind == "json" else "application/x-www-form-urlencoded"
        operation["requestBody"] = {"content": {media: {"schema": _sent(kind, bodies, secrets)}}}
    if all(entry.credential for entry in entries if entry.answered):
        operation["security"] = [{identifier(urlsplit(origin).hostname or origin): []}]
    return operation


def _sent(kind: str, bodies: Sequence[Json], secrets: _Secrets) -> dict[str, Any]:
    if not all(isinstance(body, dict) and body for body in bodies):
        return {}
    properties = {}
    for name in dict.fromkeys(name for body in bodies for name in body):
        values = [body[name] for body in bodies if name in body]
        if any(names_secret(name, str(value)) for value in values):
            properties[name] = {"type": "string", "x-atc-secret": True}
        else:
            properties[name] = _of_texts(values, secrets) if kind == "form" else _of_values(values, secrets)
    return {"type": "object", "properties": properties}


def _of_texts(texts: Sequence[str], secrets: _Secrets) -> dict[str, Any]:
    """The schema of values that travel as text: numbers and truth values where all of them are such."""
    given = [text for text in texts if text]
    fitting = (kind for kind, pattern in _SPELLED.items() if given and all(map(pattern.fullmatch, given)))
    kind = next(fitting, "string")
    return _of_values([_typed(text, kind) for text in given], secrets) | {"type": kind}


def _of_values(values: Sequence[Json], secrets: _Secrets) -> dict[str, Any]:
    """The schema of JSON values: their types, and some of them as examples where they are short and no secrets."""
    kinds = list(dict.fromkeys(type_name(value) for value in values))
    kinds = ["number"] if set(kinds) == {"integer", "number"} else kinds
    schema: dict[str, Any] = {"type": kinds[0] if len(kinds) == 1 else kinds} if kinds else {}
    examples = {
        json.dumps(shown := secrets.covered(value)): shown for value in values if value not in (None, "", [], {})
    }
    kept = [one for text, one in examples.items() if len(text) <= _LONGEST_EXAMPLE and not PLACEHOLDER.search(text)]
    return schema | ({"examples": kept[:_EXAMPLES]} if kept else {})


def _arguments(protocol: ToolProtocol, path: str, entry: _Entry) -> dict[str, Json]:
    """The arguments of one recorded call, by the protocol's names for them."""
    binding = protocol.binding
    assert isinstance(binding, HttpBinding)
    found: dict[str, Json] = {}
    template = path.split("/")[1:]
    for name, schema in protocol.parameters.items():
        wire, place = binding.wire_name(name), binding.locations.get(name)
        if name == binding.body_argument:
            found |= {name: entry.body} if entry.media else {}
        elif place == "path":
            at = next(at for at, part in enumerate(template) if part.startswith(f"{{{wire}}}"))
            found[name] = _typed(entry.segments[at].removesuffix(template[at].partition("}")[2]), schema.get("type"))
        elif place == "query":
            typed = [_typed(v, schema.get("items", schema).get("type")) for key, v in entry.query if key == wire]
            if typed:
                found[name] = typed if schema.get("type") == "array" else typed[-1]
        elif isinstance(entry.body, dict) and wire in entry.body:
            found[name] = _typed(entry.body[wire], schema.get("type")) if place == "form" else entry.body[wire]
    return found


def _typed(text: str, kind: Json) -> Json:
    pattern = _SPELLED.get(str(kind))
    if pattern is None or not pattern.fullmatch(text):
        return text
    return text == "true" if kind == "boolean" else int(text) if kind == "integer" else float(text)
