"""Fake tools over real HTTP, each with a hidden rule, and the server that answers for them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote

from protocols.protocol import Annotations, HttpBinding, Location, ToolProtocol

if TYPE_CHECKING:
    from starlette.applications import Starlette

Stated = Callable[[Mapping[str, ToolProtocol]], bool]
"""Whether protocols, by tool, state a rule."""


@dataclass(slots=True)
class Request:
    """What a tool is called with: texts of path and query, JSON values of a body, headers in lower case."""

    arguments: dict[str, Any]
    headers: Mapping[str, str]
    memory: dict[str, Any]
    """What earlier calls of this rule's tools left."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: a text is sent as plain text, anything else as JSON."""

    status: int
    body: Any
    content_type: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


Answer = Callable[[Request], Reply]


@dataclass(frozen=True, slots=True)
class Fake:
    """One tool. `path` names path arguments in braces; other `arguments` travel in the query, or in the body."""

    name: str
    method: str
    path: str
    arguments: tuple[str, ...]
    answer: Answer

    def place(self, argument: str) -> Location:
        """Where an argument travels."""
        if f"{{{argument}}}" in self.path:
            return "path"
        return "query" if self.method in ("GET", "DELETE") else "body"

    def protocol(self, url: str) -> ToolProtocol:
        """What is known of it before probing, served at `url`."""
        return ToolProtocol(
            name=self.name,
            input_schema={"type": "object", "properties": {name: {} for name in self.arguments}},
            binding=HttpBinding(
                method=self.method,
                url=url + self.path,
                locations={name: self.place(name) for name in self.arguments},
            ),
            annotations=Annotations(read_only=True) if self.method == "GET" else Annotations(),
        )


@dataclass(frozen=True, slots=True)
class Planted:
    """A hidden rule: in words, the tools that it lives in, and how one sees that protocols state it."""

    name: str
    rule: str
    tools: tuple[Fake, ...]
    stated: Stated


def ok(body: Any) -> Reply:
    """A success."""
    return Reply(200, body)


def fake_app(planted: Planted) -> Starlette:
    """The application of one rule's tools. `app.state.calls` counts requests by tool; '' are those that led nowhere."""
    from starlette.applications import Starlette
    from starlette.routing import Mount

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield

    server = _Server(planted)
    app = Starlette(routes=[Mount("/", app=server)], lifespan=lifespan)
    app.state.calls = server.calls
    return app


class _Server:
    def __init__(self, planted: Planted) -> None:
        self._tools = planted.tools
        self._memory: dict[str, Any] = {}
        self.calls: Counter[str] = Counter()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if message["type"] == "http.disconnect" or not message.get("more_body", False):
                break
        reply = self._reply(scope, body)
        text = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
        kind = reply.content_type or ("text/plain" if isinstance(reply.body, str) else "application/json")
        headers = {"content-type": kind, **reply.headers}
        await send({
            "type": "http.response.start",
            "status": reply.status,
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        })  # fmt: skip
        await send({"type": "http.response.body", "body": text.encode()})

    def _reply(self, scope: Any, body: bytes) -> Reply:
        steps = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1").split("/")
        for tool in sorted(self._tools, key=lambda tool: tool.path.count("{")):
            template = tool.path.split("/")
            fits = len(template) == len(steps) and all(
                step == part or (part[:1] == "{" and step) for step, part in zip(steps, template, strict=True)
            )
            if fits and tool.method == scope["method"]:
                self.calls[tool.name] += 1
                found: dict[str, Any] = {
                    part[1:-1]: unquote(step) for step, part in zip(steps, template, strict=True) if part[:1] == "{"
                }
                found |= dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
                if tool.method not in ("GET", "DELETE"):
                    try:
                        given = json.loads(body or b"{}")
                    except ValueError:
                        return Reply(400, "malformed JSON")
                    if not isinstance(given, dict):
                        return Reply(400, "the body must be an object")
                    found |= given
                headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
                return tool.answer(Request(found, headers, self._memory))
        self.calls[""] += 1
        return Reply(404, "Not Found")
