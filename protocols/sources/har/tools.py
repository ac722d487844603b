"""Recorded operations as an OpenAPI document in memory, and so as protocols."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from protocols.alias import identifier
from protocols.jsontypes import Json
from protocols.placeholder import PLACEHOLDER
from protocols.protocol import HttpBinding, ToolProtocol
from protocols.schema import type_name
from protocols.sources.har.entry import Entry
from protocols.sources.har.secrets import Secrets, is_secret
from protocols.sources.openapi import read_openapi

_EXAMPLES = 5
_LONGEST = 200  # characters of an example
_SPELLED = {
    "integer": re.compile(r"0|-?[1-9]\d{0,14}"),
    "number": re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?"),
    "boolean": re.compile("true|false"),
}
_MOMENT = re.compile(r"\d{10,16}")
_AGAINST_CACHES = re.compile(r"_+|_?(?:t|ts|cb|rnd|rand|nocache|cache_?bust(?:er)?)", re.IGNORECASE)
_HOLE = re.compile(r"\{([^{}]+)\}(.*)")


@dataclass
class Operation:
    """One method and path template of a host, and its calls."""

    method: str
    origin: str
    template: tuple[str, ...]
    entries: list[Entry] = field(default_factory=list)

    @property
    def path(self) -> str:
        """`/users/{user_id}`."""
        return "/" + "/".join(self.template)


def describe(
    operations: Sequence[Operation], secrets: Secrets, *, where: str, base_url: str | None
) -> list[tuple[ToolProtocol, list[tuple[Entry, dict[str, Json]]]]]:
    """Each operation's protocol, and its calls with their arguments by name, not yet redacted.

    Types and examples of arguments are those of the recorded values; only what stands in the path is required.
    """
    described: dict[tuple[str, str, str], ToolProtocol] = {}
    for origin in dict.fromkeys(operation.origin for operation in operations):
        document = _document(origin, [one for one in operations if one.origin == origin], secrets)
        places = [(method, path) for path, item in document["paths"].items() for method in item]
        protocols = read_openapi(document, where=where, base_url=base_url)
        described |= {(origin, *place): protocol for place, protocol in zip(places, protocols, strict=True)}
    taken: dict[str, int] = {}
    found = []
    for operation in operations:
        protocol = _with_free_name(described[operation.origin, operation.method.lower(), operation.path], taken)
        found.append((protocol, [(entry, _arguments(protocol, operation, entry)) for entry in operation.entries]))
    return found


def _with_free_name(protocol: ToolProtocol, taken: dict[str, int]) -> ToolProtocol:
    """The protocol, its name made different from that of the same path on another host."""
    taken[protocol.name] = number = taken.get(protocol.name, 0) + 1
    return protocol if number == 1 else replace(protocol, name=f"{protocol.name}_{number}")


def _document(origin: str, operations: Sequence[Operation], secrets: Secrets) -> dict[str, Any]:
    host = urlsplit(origin).hostname or origin
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _described(operation, host, secrets)
    return {"openapi": "3.1.0", "info": {"title": host}, "servers": [{"url": origin}], "paths": paths}


def _described(operation: Operation, host: str, secrets: Secrets) -> dict[str, Any]:
    entries = operation.entries
    parameters = []
    for at, segment in enumerate(operation.template):
        if hole := _HOLE.fullmatch(segment):
            values: list[Json] = [entry.segments[at].removesuffix(hole[2]) for entry in entries]
            parameters.append({"name": hole[1], "in": "path", "required": True, "schema": _of_texts(values, secrets)})
    for name in dict.fromkeys(name for entry in entries for name, _ in entry.query):
        asked = [[value for key, value in entry.query if key == name] for entry in entries]
        if not any(is_secret(name, value) for values in asked for value in values) and not _breaks_caches(name, asked):
            parameters.append({"name": name, "in": "query", "schema": _of_query(asked, secrets)})
    told: dict[str, Any] = {"parameters": parameters, "responses": {}}
    if body := _body(operation, secrets):
        told["requestBody"] = body
    if all(entry.credential for entry in entries if entry.answered):
        told["security"] = [{identifier(host): []}]
    return told


def _body(operation: Operation, secrets: Secrets) -> dict[str, Any] | None:
    kinds = [entry.media for entry in operation.entries if entry.media]
    if not kinds:
        return None
    kind = max(set(kinds), key=lambda media: (kinds.count(media), media))
    sent = [entry.body for entry in operation.entries if entry.media == kind]
    media = "application/json" if kind == "json" else "application/x-www-form-urlencoded"
    if not all(isinstance(body, dict) and body for body in sent):
        return {"content": {media: {"schema": {}}}}
    read = _of_texts if kind == "form" else _of_values
    properties = {}
    for name in dict.fromkeys(name for body in sent for name in body):
        values = [body[name] for body in sent if name in body]
        hidden = {"type": "string", "x-atc-secret": True}
        properties[name] = hidden if any(is_secret(name, str(v)) for v in values) else read(values, secrets)
    return {"content": {media: {"schema": {"type": "object", "properties": properties}}}}


def _of_query(asked: list[list[str]], secrets: Secrets) -> dict[str, Any]:
    values = [value for given in asked for value in given]
    one = _of_texts(values, secrets)
    return one if all(len(given) < 2 for given in asked) else {"type": "array", "items": one}


def _of_texts(values: Sequence[Json], secrets: Secrets) -> dict[str, Any]:
    """The schema of values that travel as text: numbers and truth values where all of them are such."""
    given = [text for text in map(str, values) if text]
    return _of_values([_typed(text, _type_of_texts(given)) for text in given], secrets) | {
        "type": _type_of_texts(given)
    }


def _type_of_texts(values: Sequence[str]) -> str:
    for kind, pattern in _SPELLED.items():
        if values and all(map(pattern.fullmatch, values)):
            return kind
    return "string"


def _of_values(values: Sequence[Json], secrets: Secrets) -> dict[str, Any]:
    """The schema of JSON values: their types, and some of them as examples where they are short and no secrets."""
    kinds = list(dict.fromkeys(type_name(value) for value in values))
    if set(kinds) == {"integer", "number"}:
        kinds = ["number"]
    told: dict[str, Any] = {"type": kinds[0] if len(kinds) == 1 else kinds} if kinds else {}
    examples: dict[str, Json] = {}
    for value in values:
        if len(examples) == _EXAMPLES:
            break
        shown = secrets.covered(value)
        plain = json.dumps(shown, ensure_ascii=False)
        if shown not in (None, "", [], {}) and len(plain) <= _LONGEST and not PLACEHOLDER.search(plain):
            examples[plain] = shown
    return told | ({"examples": list(examples.values())} if examples else {})


def _breaks_caches(name: str, asked: list[list[str]]) -> bool:
    """Whether it is only there so that no cache answers: `_=1700000000000`."""
    values = [value for given in asked for value in given]
    return bool(_AGAINST_CACHES.fullmatch(name)) and all(map(_MOMENT.fullmatch, values))


def _arguments(protocol: ToolProtocol, operation: Operation, entry: Entry) -> dict[str, Json]:
    """The arguments of one recorded call, by the protocol's names for them."""
    binding = protocol.binding
    assert isinstance(binding, HttpBinding)
    found: dict[str, Json] = {}
    for name, schema in protocol.parameters.items():
        wire, place = binding.wire_names.get(name, name), binding.locations.get(name)
        if name == binding.body_argument:
            found |= {name: entry.body} if entry.media else {}
        elif place == "path":
            at = next(at for at, part in enumerate(operation.template) if part.startswith(f"{{{wire}}}"))
            text = entry.segments[at].removesuffix(operation.template[at].partition("}")[2])
            found[name] = _typed(text, str(schema.get("type")))
        elif place == "query":
            values = [value for key, value in entry.query if key == wire]
            inner = str(schema.get("items", schema).get("type"))
            typed = [_typed(value, inner) for value in values]
            if typed:
                found[name] = typed if schema.get("type") == "array" else typed[-1]
        elif isinstance(entry.body, dict) and wire in entry.body:
            value = entry.body[wire]
            found[name] = _typed(value, str(schema.get("type"))) if place == "form" else value
    return found


def _typed(text: str, kind: str) -> Json:
    pattern = _SPELLED.get(kind)
    if pattern is None or not pattern.fullmatch(text):
        return text
    return text == "true" if kind == "boolean" else int(text) if kind == "integer" else float(text)
