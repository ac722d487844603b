"""A HAR recording of a browser → the API operations that it used, and what they answered. Nothing is sent.

Secrets do not leave this package: cookies, Authorization and other headers are not kept at all; tokens in queries,
bodies, paths and responses become placeholders (`protocols.placeholder`), wherever they stand.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from protocols.errors import SourceUnavailable
from protocols.jsontypes import Json, JsonObject
from protocols.protocol import Evidence, ToolProtocol
from protocols.reply import MAX_ERROR_TEXT, one_line, outcome_of
from protocols.sources.har.entry import Entry, origin_of, read_entry
from protocols.sources.har.secrets import Secrets
from protocols.sources.har.templates import Seen, templates
from protocols.sources.har.tools import Operation, describe
from protocols.sources.recorded import RecordedCall
from protocols.sources.server import is_url


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One operation that a recording shows, and its calls in their order, equal ones once."""

    protocol: ToolProtocol
    calls: tuple[RecordedCall, ...]


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
    secrets = Secrets()
    raw = [item for item in document["log"]["entries"] if isinstance(item, Mapping)]
    entries = [entry for item in raw if (entry := read_entry(item, secrets)) is not None]
    if not any(entry.answered for entry in entries):
        raise SourceUnavailable(
            f"{where} records no API call: none of its {len(raw)} requests was answered with JSON; record again with "
            "the network panel of the browser open, and save everything as HAR with content."
        )
    chosen = _chosen(entries, list(_pages(raw)), base_url)
    seen = [Seen(e.method, e.origin, e.segments, e.response if e.answered else None) for e in chosen]
    operations: dict[tuple[str, str, tuple[str, ...]], Operation] = {}
    for entry, template in zip(chosen, templates(seen, secrets.stand_in), strict=True):
        made = Operation(entry.method, entry.origin, template)
        operations.setdefault((entry.method, entry.origin, template), made).entries.append(entry)
    kept = [operation for operation in operations.values() if any(entry.answered for entry in operation.entries)]
    moved = base_url if base_url and all(entry.origin != origin_of(base_url) for entry in entries) else None
    return [_recorded(*one, secrets) for one in describe(kept, secrets, where=where, base_url=moved)]


def _recorded(protocol: ToolProtocol, given: list[tuple[Entry, dict[str, Json]]], secrets: Secrets) -> Recorded:
    calls: dict[str, RecordedCall] = {}
    for entry, arguments in given:
        call = _call(protocol, entry, secrets.covered(arguments), secrets)
        calls.setdefault(json.dumps([call.arguments, call.outcome], sort_keys=True), call)
    seen = sum(call.outcome == "done" for call in calls.values())
    evidence = Evidence(level="observed", observations=seen)
    return Recorded(protocol=replace(protocol, evidence=evidence), calls=tuple(calls.values()))


def _call(protocol: ToolProtocol, entry: Entry, arguments: JsonObject, secrets: Secrets) -> RecordedCall:
    made = RecordedCall(tool=protocol.name, arguments=arguments, status=entry.status, seconds=entry.seconds)
    response = secrets.covered(entry.response)
    if entry.answered:
        return replace(made, response=response)
    text = response if isinstance(response, str) else json.dumps(response, ensure_ascii=False)
    outcome = outcome_of(entry.status, reads=not protocol.writes)
    return replace(made, outcome=outcome, error=one_line(text, limit=MAX_ERROR_TEXT), answer=text)


def _chosen(entries: list[Entry], pages: list[str], base_url: str | None) -> list[Entry]:
    """The calls of the host that was asked for, else of one site."""
    if base_url and (asked := [entry for entry in entries if entry.origin == origin_of(base_url)]):
        return asked
    sites: dict[str, int] = {}
    for entry in entries:
        sites[_site(entry.origin)] = sites.get(_site(entry.origin), 0) + entry.answered
    page = next((site for site in map(_site, pages) if sites.get(site)), None)
    main = page or max(sites, key=lambda site: sites[site])
    return [entry for entry in entries if _site(entry.origin) == main]


def _pages(raw: list[JsonObject]) -> Iterator[str]:
    """The addresses of the documents that were opened."""
    for item in raw:
        request, response = item.get("request"), item.get("response")
        content = response.get("content") if isinstance(response, Mapping) else None
        html = isinstance(content, Mapping) and str(content.get("mimeType", "")).startswith("text/html")
        opened = item["_resourceType"] == "document" if "_resourceType" in item else html
        url = request.get("url") if isinstance(request, Mapping) else None
        if opened and isinstance(url, str) and is_url(url):
            yield url


def _site(url: str) -> str:
    """The part of a host that one owner has: `api.example.co.uk` → `example.co.uk`. An address is its own."""
    host = (urlsplit(url).hostname or "").lower()
    labels = host.split(".")
    if len(labels) < 3 or labels[-1].isdigit() or ":" in host:
        return host
    size = 3 if len(labels[-1]) == 2 and len(labels[-2]) <= 3 else 2
    return ".".join(labels[-size:])


__all__ = ["Recorded", "RecordedCall", "is_har", "read_har"]
