"""A starlette application that answers the operations of a service over HTTP, with the faults that are switched on."""

from __future__ import annotations

import json
from asyncio import sleep
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import lru_cache
from logging import getLogger
from time import perf_counter
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote

from protocols.jsontypes import Json, JsonObject
from toolflow_bench.services.control import Control, RequestRecord, steer
from toolflow_bench.services.document import KEY_HEADER, LONGEST_KEY, document
from toolflow_bench.services.faults import Fault, drifted
from toolflow_bench.services.operation import Arguments, Operation, Refusal, check, read_texts
from toolflow_bench.services.reply import Receive, Reply, Scope, Send, close_connection, send_cut, send_reply
from toolflow_bench.services.state import State

if TYPE_CHECKING:
    from starlette.applications import Starlette


def build_app(
    operations: Sequence[Operation],
    *,
    context: Any,
    info: JsonObject,
    schemas: Mapping[str, JsonObject],
    close: Callable[[], None],
    bare: bool = False,
) -> Starlette:
    """The service. `context` reaches every handler as its first argument; `close` runs when the service stops.

    A `bare` one serves its operations alone: neither its document nor what steers it can be asked for.
    `app.state.control` is its `Control`, `app.state.run` the `State` of the context (`None` where it has none), and
    `app.state.requests` the latest requests as `RequestRecord`s, oldest first.
    """
    from starlette.applications import Starlette
    from starlette.routing import Mount

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        close()

    @lru_cache(maxsize=8)
    def described(server: str) -> Reply:
        return Reply.of(200, document(operations, info=info, schemas=schemas, server=server))

    state = getattr(context, "state", None)
    control = Control(state if isinstance(state, State) else None)
    service = _Service(operations, context=context, control=control, described=None if bare else described)
    app = Starlette(routes=[Mount("/", app=service)], lifespan=lifespan)
    app.state.control, app.state.run, app.state.requests = control, control.state, control.requests
    return app


class Routes:
    """Operations by path. Concrete paths go before templates: `/airlines/search` is no airline's code."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        self._exact: dict[tuple[str, ...], dict[str, Operation]] = {}
        self._templates: dict[int, dict[tuple[str, ...], dict[str, Operation]]] = {}
        for operation in sorted(operations, key=lambda operation: operation.path.count("{")):
            template = tuple(operation.path.split("/")[1:])
            table = self._templates.setdefault(len(template), {}) if "{" in operation.path else self._exact
            table.setdefault(template, {})[operation.method] = operation

    def find(self, method: str, path: bytes) -> tuple[Operation, list[tuple[str, str]]]:
        """The operation for `method` and `path` (percent-encoded), and its path arguments as pairs of name and text.

        Raises:
            Refusal: 404, no operation has this path; 405, another method has.
        """
        steps = tuple(map(unquote, path.decode("latin-1").split("/")[1:]))
        methods, texts = self._exact.get(steps), []
        if methods is None:
            for template, offered in self._templates.get(len(steps), {}).items():
                if all(step == part or (part[:1] == "{" and step) for step, part in zip(steps, template, strict=True)):
                    methods = offered
                    texts = [(part[1:-1], step) for step, part in zip(steps, template, strict=True) if part[:1] == "{"]
                    break
        if methods is None:
            raise Refusal(404, "Not Found")
        operation = methods.get("GET" if method == "HEAD" else method)
        if operation is None:
            allowed = ", ".join(sorted(methods))
            raise Refusal(405, "Method Not Allowed", headers=((b"allow", allowed.encode()),))
        return operation, texts


class _Service:
    """The ASGI application below starlette's. It answers everything itself: nothing comes as another's page."""

    def __init__(
        self,
        operations: Sequence[Operation],
        *,
        context: Any,
        control: Control,
        described: Callable[[str], Reply] | None,
    ) -> None:
        self._context, self._control, self._described = context, control, described
        self._routes = Routes(operations)
        self._readers = {operation.id: _reader(operation) for operation in operations}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun, method, path = perf_counter(), scope["method"], scope["path"]
        body = await _body(receive)
        if body is None:
            return  # the client has gone
        if path.startswith("/bench/") and self._described is not None:
            await send_reply(send, self._steered(method, path, body))
            return
        record = RequestRecord(method, path, scope["query_string"].decode("latin-1"), None)
        reply, fault = None, None
        try:
            if path == "/openapi.json" and method in ("GET", "HEAD") and self._described is not None:
                reply = self._described(_server(scope))
            else:
                operation, texts = self._routes.find(method, scope.get("raw_path") or path.encode())
                record = record._replace(operation=operation.id)
                reply, fault, record = await self._operate(operation, texts, scope, body, record)
        except Refusal as refusal:
            reply = Reply.refused(refusal)
        milliseconds = (perf_counter() - begun) * 1000
        # Before it is sent: whoever has the answer finds the record.
        self._control.requests.append(
            record._replace(status=reply.status if reply else None, milliseconds=milliseconds)
        )
        if reply is None:
            await close_connection(scope, receive)
        elif fault is not None and fault.kind == "truncated":
            await send_cut(scope, receive, send, reply, fault)
        else:
            await send_reply(send, reply)

    def _steered(self, method: str, path: str, body: bytes) -> Reply:
        try:
            return steer(self._control, method, path, _json_body(body) if body else None)
        except Refusal as refusal:
            return Reply.refused(refusal)

    async def _operate(
        self, operation: Operation, texts: list[tuple[str, str]], scope: Scope, body: bytes, record: RequestRecord
    ) -> tuple[Reply | None, Fault | None, RequestRecord]:
        """The answer, if there is to be one, with the fault that befell it."""
        control = self._control
        generation, fault = control.generation, control.draw()
        arguments: Arguments | None = None
        try:
            key = _key(operation, scope)
            arguments = self._readers[operation.id](texts, record.query, body)
            record = record._replace(key=key, arguments={k: v for k, v in arguments.items() if v is not None})
        except Refusal as refusal:
            refused = Reply.refused(refusal)
        if fault is not None:
            record = record._replace(fault=fault.kind or "")
            await sleep(fault.latency_seconds)
            if control.generation != generation:
                # The run that asked is over; its write must not reach the next one.
                return None, None, record._replace(fault="stale")
            if fault.kind in ("429", "500", "drop"):
                return _failed(fault, control), fault, record
        reply = refused if arguments is None else self._perform(operation, arguments, record.key)
        record = record._replace(wrote=reply.wrote)
        if fault is not None and fault.kind == "drop_after":
            return None, fault, record
        if fault is not None and fault.kind == "drift" and reply.status < 300 and control.faults is not None:
            changed, change = drifted(json.loads(reply.body), operation=operation.id, seed=control.faults.seed)
            return Reply.of(reply.status, changed), fault, record._replace(change=change)
        if control.faults is not None and reply.status < 300 and control.faults.renames(operation.id):
            changed, change = drifted(json.loads(reply.body), operation=operation.id, seed=0, how="rename")
            return Reply.of(reply.status, changed, headers=reply.headers), fault, record._replace(change=change)
        return reply, fault, record

    def _perform(self, operation: Operation, arguments: Arguments, key: str) -> Reply:
        """What the handler answers, or what it answered before under `key`."""
        asked = ""
        if key:
            asked = json.dumps([operation.id, arguments], sort_keys=True)
            first = self._control.answered(key, asked)
            if first is not None:
                return replace(first, wrote=False)
        try:
            # On the event loop: a handler is an indexed query of well under a millisecond, less than a thread costs.
            reply = Reply.of(operation.success, operation.handler(self._context, arguments), wrote=operation.writes)
        except Refusal as refusal:
            reply = Reply.refused(refusal)
        except Exception as error:
            # The service goes on, and the client learns that the fault is ours.
            getLogger(__name__).exception("%s failed", operation.id)
            return Reply.of(500, {"detail": f"a bug in the service: {type(error).__name__}: {error}"})
        if key:
            self._control.remember(key, asked, reply)
        return reply


def _failed(fault: Fault, control: Control) -> Reply | None:
    """The answer of a fault that comes before any work."""
    if fault.kind == "drop":
        return None
    if fault.kind == "500":
        return Reply.of(500, {"detail": "the service failed; nothing was done."})
    wait = control.faults.retry_after_seconds if control.faults else 1
    return Reply.of(
        429, {"detail": f"too many requests; try again in {wait} s."}, headers=((b"retry-after", b"%d" % wait),)
    )


async def _body(receive: Receive) -> bytes | None:
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += bytes(message.get("body", b""))
        if not message.get("more_body", False):
            return body


_Reader = Callable[[list[tuple[str, str]], str, bytes], Arguments]


def _reader(operation: Operation) -> _Reader:
    """What reads an operation's arguments from the texts of its path, its query and its body."""
    in_body = [p for p in operation.parameters if operation.location(p) == "body"]
    in_text = [p for p in operation.parameters if p not in in_body]

    def read(texts: list[tuple[str, str]], query: str, body: bytes) -> Arguments:
        given = [*texts, *parse_qsl(query, keep_blank_values=True)] if query else texts
        arguments = read_texts(in_text, given)
        if not operation.has_body:
            return arguments
        values = _json_body(body)
        if not isinstance(values, dict):
            raise Refusal(422, "the body must be a JSON object of arguments.")
        return arguments | check(in_body, values)

    return read


def _json_body(body: bytes) -> Json:
    try:
        return json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise Refusal(422, "the body must be JSON; it is not.") from None


def _refuse_constant(name: str) -> Json:
    raise ValueError(name)


def _key(operation: Operation, scope: Scope) -> str:
    if not operation.takes_key:
        return ""
    for name, value in scope["headers"]:
        if name == b"idempotency-key":
            if not 1 <= len(value) <= LONGEST_KEY:
                raise Refusal(422, f"{KEY_HEADER} must be a text of 1 to {LONGEST_KEY} characters.")
            return str(value.decode("latin-1"))
    return ""


def _server(scope: Scope) -> str:
    """Where the client found us, so that it can come back."""
    host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), None)
    return f"{scope['scheme']}://{host or '{}:{}'.format(*scope['server'])}"
