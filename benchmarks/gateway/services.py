"""ToolFlow's services for any gateway, what they were asked, and one that loses an answer; and generated documents."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from toolflow_bench.services.control import RequestRecord
from toolflow_bench.services.reply import Receive, Scope, Send, close_connection
from toolflow_bench.world import World

Calls = Counter[str]
"""How often each call, by its operation and arguments, reached a service."""


class Services(World):
    """All services with one state each. While `losing`, the next write that succeeds is performed, and its connection
    closed in place of an answer."""

    def __init__(self) -> None:
        super().__init__()
        self.losing = False
        self.documents = {name: served.document_url for name, served in self.services.items()}
        for served in self.services.values():  # they run already; what a request meets first can still be changed
            served.app.middleware_stack = self._wrapped(served.app.middleware_stack)

    def reset(self) -> None:
        """Forget what was written, and what was asked."""
        self.losing = False
        for served in self.services.values():
            served.app.state.control.reset(log=True)

    @property
    def requests(self) -> list[RequestRecord]:
        """The calls of operations since the last reset."""
        apps = [served.app for served in self.services.values()]
        return [record for app in apps for record in list(app.state.requests) if record.operation]

    @property
    def calls(self) -> Calls:
        """The same, equal ones together."""
        return counted(self.requests)

    @property
    def writes(self) -> Calls:
        """Those that wrote."""
        return counted(one for one in self.requests if one.wrote)

    def _wrapped(self, app: Any) -> Any:
        async def losing(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http" or scope["method"] in ("GET", "HEAD") or not self.losing:
                await app(scope, receive, send)
                return
            messages: list[Any] = []

            async def keep(message: Any) -> None:
                messages.append(message)

            await app(scope, receive, keep)
            if messages and messages[0]["status"] < 400:
                self.losing = False
                await close_connection(scope, receive)
                return
            for message in messages:
                await send(message)

        return losing


def counted(requests: Iterable[RequestRecord]) -> Calls:
    """The calls, equal ones together."""
    return Counter(json.dumps([one.operation, one.arguments or one.query], sort_keys=True) for one in requests)


def repeated(first: Calls, second: Calls, needed: Calls) -> int:
    """Calls of two programs that were made before: more of one than the program that makes most of them needs."""
    return sum(max(0, first[call] + second[call] - max(first[call], needed[call], 1)) for call in first | second)


_THINGS = ("invoice", "customer", "shipment", "ticket", "project", "contract", "device", "lesson", "recipe", "vehicle")


def generated(folder: Path, count: int) -> str:
    """The address of an OpenAPI document of so many operations, which nobody answers."""
    text = {"type": "string"}
    language = {"name": "language", "in": "query", "schema": {"type": "string", "enum": ["en", "de", "fr"]}}
    paths = {}
    for number in range(count):
        thing = _THINGS[number % len(_THINGS)]
        fields = {f"{thing}_id": text, "title": text, "state": {"enum": ["open", "done"]}, "total": {"type": "number"}}
        schema = {"type": "object", "properties": fields, "required": list(fields)}
        operation = {
            "operationId": f"get_{thing}_{number}",
            "summary": f"One {thing} of department {number} by its id, with its state and total.",
            "parameters": [{"name": f"{thing}_id", "in": "path", "required": True, "schema": text}, language],
            "responses": {"200": {"description": f"The {thing}.", "content": {"application/json": {"schema": schema}}}},
        }
        paths[f"/{thing}s/{number}/{{{thing}_id}}"] = {"get": operation}
    head = {"openapi": "3.1.0", "info": {"title": "Generated", "version": "1"}}
    path = folder / f"{count}.json"
    path.write_text(json.dumps({**head, "servers": [{"url": "http://127.0.0.1:9"}], "paths": paths}), encoding="utf-8")
    return path.as_uri()
