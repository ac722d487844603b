"""ToolFlow's services on loopback for any gateway, what they were asked, and one that loses an answer."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from protocols.invoke import Invoker
from protocols.sources import load_tools
from protocols.toolbox import Toolbox
from toolflow_bench.final_state import Snapshot
from toolflow_bench.services.control import RequestRecord, reset
from toolflow_bench.services.reply import Receive, Scope, Send, close_connection
from toolflow_bench.services.serve import serve
from toolflow_bench.services.service import NAMES, find_service

Calls = Counter[str]
"""How often each call, by its operation and arguments, reached a service."""


class Services:
    """All services with one state each; close them, or use them as a context manager."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._losing = threading.Event()
        apps = {name: find_service(name).app() for name in NAMES}
        self._apps = list(apps.values())
        served = {name: self._stack.enter_context(serve(self._wrapped(app))) for name, app in apps.items()}
        self.documents = {name: one.document_url for name, one in served.items()}
        invoker = Invoker()
        self._stack.callback(invoker.close)
        self.tools: Toolbox = load_tools(*(f"{n}={url}" for n, url in self.documents.items()), invoker=invoker)

    def reset(self) -> None:
        """Forget what was written, and what was asked."""
        self._losing.clear()
        for app in self._apps:
            reset(app, log=True)

    def lose_answer(self) -> None:
        """Perform the next write that succeeds, and close its connection in place of an answer."""
        self._losing.set()

    @property
    def requests(self) -> list[RequestRecord]:
        """The calls of operations since the last reset."""
        return [record for app in self._apps for record in list(app.state.requests) if record.operation]

    def snapshot(self) -> Snapshot:
        """What was written since the last reset."""
        names = zip(self.documents, self._apps, strict=True)
        return {name: left for name, app in names if (left := app.state.run.snapshot())}

    def _wrapped(self, app: Any) -> Any:
        async def losing(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http" or scope["method"] in ("GET", "HEAD") or not self._losing.is_set():
                await app(scope, receive, send)
                return
            messages: list[Any] = []

            async def keep(message: Any) -> None:
                messages.append(message)

            await app(scope, receive, keep)
            if messages and messages[0]["status"] < 400:
                self._losing.clear()
                await close_connection(scope, receive)
                return
            for message in messages:
                await send(message)

        return losing

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()


def counted(requests: Iterable[RequestRecord]) -> Calls:
    """The calls, equal ones together."""
    return Counter(json.dumps([one.operation, one.arguments or one.query], sort_keys=True) for one in requests)


def repeated(first: Calls, second: Calls, needed: Calls) -> int:
    """Calls of two programs that were made before: more of one than the program that makes most of them needs."""
    return sum(max(0, first[call] + second[call] - max(first[call], needed[call], 1)) for call in first | second)


class GeneratedDocuments:
    """Serves OpenAPI documents of any number of operations at `/COUNT/openapi.json`, and the operations."""

    def __enter__(self) -> Self:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                _, first, *_, last = self.path.partition("?")[0].split("/")
                if last == "openapi.json":
                    found = _document(int(first), self.headers["Host"])
                else:
                    found = {f"{first.removesuffix('s')}_id": last, "title": "One", "state": "open", "total": 7.5}
                body = json.dumps(found).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def url(self, count: int) -> str:
        """Of the document of so many operations."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/{count}/openapi.json"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


_THINGS = ("invoice", "customer", "shipment", "ticket", "project", "contract", "device", "lesson", "recipe", "vehicle")


def _document(count: int, host: str) -> dict[str, Any]:
    text = {"type": "string"}
    paths = {}
    for number in range(count):
        thing = _THINGS[number % len(_THINGS)]
        fields = {f"{thing}_id": text, "title": text, "state": {"enum": ["open", "done"]}, "total": {"type": "number"}}
        paths[f"/{thing}s/{number}/{{{thing}_id}}"] = {
            "get": {
                "operationId": f"get_{thing}_{number}",
                "summary": f"One {thing} of department {number} by its id, with its state and total.",
                "parameters": [
                    {"name": f"{thing}_id", "in": "path", "required": True, "schema": text},
                    {"name": "language", "in": "query", "schema": {"type": "string", "enum": ["en", "de", "fr"]}},
                ],
                "responses": {
                    "200": {
                        "description": f"The {thing}.",
                        "content": {
                            "application/json": {
                                "schema": {"type": "object", "properties": fields, "required": list(fields)}
                            }
                        },
                    }
                },
            }
        }
    info = {"title": "Generated", "version": "1"}
    return {"openapi": "3.1.0", "info": info, "servers": [{"url": f"http://{host}"}], "paths": paths}
