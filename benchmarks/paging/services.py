"""Services that list the same records, each in another way of paging.

Each way is one that public services have. A `Way` answers requests; `serve` puts it on loopback.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

Answer = tuple[int, Any, dict[str, str]]
"""Status, body and headers of a response."""
Respond = Callable[[list[dict[str, Any]], dict[str, str], str], Answer]
"""Answers a request: gets all records, the query, and the origin of the service."""

RECORD = {
    "type": "object",
    "required": ["id", "name", "created"],
    "properties": {
        "id": {"type": "integer"},
        "name": {"type": "string"},
        "created": {"type": "string", "format": "date"},
    },
}


def make_records(total: int) -> list[dict[str, Any]]:
    """Return records, newest first, so that the oldest one is on the last page."""
    days = (f"20{10 + n // 336:02}-{n // 28 % 12 + 1:02}-{n % 28 + 1:02}" for n in range(total))
    numbered = [
        {"id": n + 1, "name": f"item {n + 1}", "created": day} for n, day in enumerate(days)
    ]
    return numbered[::-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way of paging: how the service answers, and what its document declares.

    `path` leads to the list in a response, and is empty if the response is the list. `asks` are the
    arguments with which a program asks for as much as it can.
    """

    name: str
    respond: Respond
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    path: tuple[str, ...] = ()
    asks: str = ""

    def document(self, address: str) -> dict[str, Any]:
        """Return the OpenAPI document of the service."""
        schema: dict[str, Any] = {"type": "array", "items": RECORD}
        for key in reversed(self.path):
            schema = {"type": "object", "properties": {key: schema}, "required": [key]}
        if self.path:
            schema["properties"]["meta" if self.path != ("meta",) else "about"] = {}
        get = {
            "operationId": "list_items",
            "summary": "List the items.",
            "parameters": [
                {"name": name, "in": "query", "schema": one}
                for name, one in self.parameters.items()
            ],
            "responses": {
                "200": {"description": "ok", "content": {"application/json": {"schema": schema}}}
            },
        }
        return {
            "openapi": "3.0.3",
            "info": {"title": self.name, "version": "1"},
            "servers": [{"url": address}],
            "paths": {"/items": {"get": get}},
        }


def _link(records: list[dict[str, Any]], query: dict[str, str], _origin: str) -> Answer:
    start = int(query.get("cursor", "c0")[1:])
    more = start + 50 < len(records)
    link = f'</items?cursor=c{start + 50}>; rel="next"' if more else '</items>; rel="first"'
    return 200, records[start : start + 50], {"Link": link}


def _next_page_number(records: list[dict[str, Any]], query: dict[str, str], _origin: str) -> Answer:
    size = min(int(query.get("per_page", 20)), 50)
    page = int(query.get("page", 1))
    more = page * size < len(records)
    headers = {
        "X-Total": str(len(records)),
        "X-Page": str(page),
        "X-Next-Page": str(page + 1) if more else "",
    }
    return 200, records[(page - 1) * size : page * size], headers


def _next_page_address(records: list[dict[str, Any]], query: dict[str, str], origin: str) -> Answer:
    start = int(query.get("_token", 0))
    headers = {"Total-Records": str(len(records))}
    if start + 50 < len(records):
        headers["Next-Page"] = f"{origin}/items?_token={start + 50}"
    return 200, records[start : start + 50], headers


def _total_in_header(records: list[dict[str, Any]], query: dict[str, str], _origin: str) -> Answer:
    page = int(query.get("page", 1))
    total = {"X-Total-Count": str(len(records))}
    return 200, records[(page - 1) * 50 : page * 50], total


def _content_range(records: list[dict[str, Any]], query: dict[str, str], _origin: str) -> Answer:
    start = int(query.get("offset", 0))
    part = records[start : start + 50]
    shown = (
        f"items {start}-{start + len(part) - 1}/{len(records)}"
        if part
        else f"items */{len(records)}"
    )
    return 206 if len(part) < len(records) else 200, part, {"Content-Range": shown}


def _cursor_in_body(records: list[dict[str, Any]], query: dict[str, str], _origin: str) -> Answer:
    start = int(query.get("cursor", "c0")[1:])
    following = f"c{start + 50}" if start + 50 < len(records) else None
    body = {"items": records[start : start + 50], "meta": {"next_cursor": following}}
    return 200, body, {}


def _address_in_body(records: list[dict[str, Any]], query: dict[str, str], _origin: str) -> Answer:
    start = int(query.get("skip", 0))
    links = {"self": {"href": f"/items?skip={start}"}}
    if start + 50 < len(records):
        links["next"] = {"href": f"/items?skip={start + 50}"}
    return 200, {"data": records[start : start + 50], "links": links}, {}


def _silent_cap(records: list[dict[str, Any]], query: dict[str, str], _origin: str) -> Answer:
    start = int(query.get("offset", 0))
    size = min(int(query.get("limit", 100)), 100)
    return 200, records[start : start + size], {}


_NUMBER = {"type": "integer"}
WAYS = (
    Way(name="Link header, cursor", respond=_link),
    Way(
        name="X-Next-Page, size capped in silence",
        respond=_next_page_number,
        parameters={"page": {**_NUMBER, "default": 1}, "per_page": {**_NUMBER, "default": 20}},
        asks="per_page=1000",
    ),
    Way(name="Next-Page header, address", respond=_next_page_address),
    Way(
        name="total in a header, page number",
        respond=_total_in_header,
        parameters={"page": _NUMBER},
    ),
    Way(name="Content-Range, offset", respond=_content_range, parameters={"offset": _NUMBER}),
    Way(
        name="cursor in the body",
        respond=_cursor_in_body,
        parameters={"cursor": {"type": "string"}},
        path=("items",),
    ),
    Way(name="next address in the body", respond=_address_in_body, path=("data",)),
    Way(
        name="offset, size capped in silence, nothing announced",
        respond=_silent_cap,
        parameters={"offset": _NUMBER, "limit": _NUMBER},
        asks="limit=1000",
    ),
)


@dataclass(slots=True)
class Service:
    """A service on loopback. `seen` are the targets of the requests for its list."""

    address: str = ""
    seen: list[str] = field(default_factory=list)


@contextmanager
def serve(way: Way, total: int) -> Iterator[Service]:
    """Serve a list of `total` records in one way of paging, and its document."""
    records = make_records(total)
    service = Service()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            if path == "/openapi.json":
                answer: Answer = (200, way.document(service.address), {})
            else:
                service.seen.append(self.path)
                asked = dict(parse_qsl(query, keep_blank_values=True))
                answer = way.respond(records, asked, service.address)
            status, body, headers = answer
            content = json.dumps(body).encode()
            self.send_response(status)
            plain = {"Content-Type": "application/json", "Content-Length": str(len(content))}
            for name, value in (plain | headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    service.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
