"""The Starlette application that serves a service's operations over HTTP and injects faults."""

from __future__ import annotations

import json
import re
from asyncio import sleep
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote

from protocols.schema import Json, JsonObject
from toolflow_bench.services.control import Control, RequestRecord, steer
from toolflow_bench.services.document import KEY_HEADER, LONGEST_KEY, document
from toolflow_bench.services.faults import ServiceFault, drift_answer
from toolflow_bench.services.operation import (
    Arguments,
    Operation,
    Refusal,
    complete_arguments,
    read_texts,
)
from toolflow_bench.services.reply import (
    Receive,
    Scope,
    Send,
    ServiceReply,
    close_connection,
    send_reply,
)
from toolflow_bench.services.state import ServiceState

if TYPE_CHECKING:
    from starlette.applications import Starlette


def build_app(
    operations: Sequence[Operation],
    *,
    context: Any,
    info: JsonObject,
    schemas: Mapping[str, JsonObject],
    close: Callable[[], None],
) -> Starlette:
    """Return the application. Every handler gets `context` as its first argument.

    `close` is called when the service stops. `app.state.control` is the `Control` of the service,
    `app.state.run` the `ServiceState` of the context (or None), and `app.state.requests` the latest
    requests as `RequestRecord`s, oldest first.
    """
    from starlette.applications import Starlette
    from starlette.routing import Mount

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        close()

    def described(server: str) -> ServiceReply:
        return ServiceReply.from_value(
            200, document(operations, info=info, schemas=schemas, server=server)
        )

    state = getattr(context, "state", None)
    control = Control(state if isinstance(state, ServiceState) else None)
    service = _Service(operations, context=context, control=control, described=described)
    app = Starlette(routes=[Mount("/", app=service)], lifespan=lifespan)
    app.state.control = control
    app.state.run = control.state
    app.state.requests = control.requests
    return app


class Routes:
    """Finds the operation for a path.

    Paths without parameters are tried first, so that `/airlines/search` is not read as
    `/airlines/{code}`.
    """

    def __init__(self, operations: Sequence[Operation]) -> None:
        ordered = sorted(operations, key=lambda operation: operation.path.count("{"))
        self._known = [
            (re.compile(re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", one.path)), one) for one in ordered
        ]

    def find(self, method: str, path: bytes) -> tuple[Operation, list[tuple[str, str]]]:
        """Return the operation for a method and a percent-encoded path, and the path's arguments.

        The arguments are pairs of name and text.

        Raises:
            Refusal: 404, no operation has this path; 405, the path exists only with other methods.
        """
        fitting = [
            (match, one)
            for pattern, one in self._known
            if (match := pattern.fullmatch(path.decode("latin-1")))
        ]
        if not fitting:
            raise Refusal(404, "Not Found")
        for match, operation in fitting:
            if operation.method == ("GET" if method == "HEAD" else method):
                return operation, [
                    (name, unquote(text)) for name, text in match.groupdict().items()
                ]
        allowed = ", ".join(sorted(operation.method for _, operation in fitting))
        raise Refusal(405, "Method Not Allowed", headers=((b"allow", allowed.encode()),))


class _Service:
    """The ASGI application that Starlette calls for every path.

    It also answers requests for unknown paths.
    """

    def __init__(
        self,
        operations: Sequence[Operation],
        *,
        context: Any,
        control: Control,
        described: Callable[[str], ServiceReply],
    ) -> None:
        self._context = context
        self._control = control
        self._described = described
        self._routes = Routes(operations)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = scope["method"]
        path = scope["path"]
        body = await _body(receive)
        if body is None:
            return  # the client has gone
        if path.startswith("/bench/"):
            await send_reply(send, self._answer_control(method, path, body))
            return
        record = RequestRecord(method, path, scope["query_string"].decode("latin-1"), None)
        reply, fault, record = await self._answer(scope, body, record)
        # Logged before it is sent, so that a client with the response finds the record.
        self._control.requests.append(record._replace(status=reply.status if reply else None))
        cut = fault is not None and fault.kind == "truncated"
        if reply is not None:
            await send_reply(send, reply, share=fault.share if fault and cut else 1.0)
        if reply is None or cut:
            await close_connection(scope, receive)

    async def _answer(
        self, scope: Scope, body: bytes, record: RequestRecord
    ) -> tuple[ServiceReply | None, ServiceFault | None, RequestRecord]:
        """Return the response, the injected fault, and the completed log record.

        If the response is None, the caller must close the connection.
        """
        path = scope["path"]
        if path == "/openapi.json" and record.method in ("GET", "HEAD"):
            return self._described(_server(scope)), None, record
        try:
            raw_path = scope.get("raw_path") or path.encode()
            operation, texts = self._routes.find(record.method, raw_path)
            record = record._replace(operation=operation.id)
            return await self._operate(operation, texts, scope, body, record)
        except Refusal as refusal:
            return ServiceReply.from_refusal(refusal), None, record

    def _answer_control(self, method: str, path: str, body: bytes) -> ServiceReply:
        try:
            return steer(self._control, method, path, _json_body(body) if body else None)
        except Refusal as refusal:
            return ServiceReply.from_refusal(refusal)

    async def _operate(
        self,
        operation: Operation,
        texts: list[tuple[str, str]],
        scope: Scope,
        body: bytes,
        record: RequestRecord,
    ) -> tuple[ServiceReply | None, ServiceFault | None, RequestRecord]:
        """Answer a request for an operation.

        Return the response, the injected fault, and the completed log record. If the response is
        None, the caller must close the connection.
        """
        control = self._control
        generation = control.generation
        fault = control.draw()
        arguments: Arguments | None = None
        try:
            key = _key(operation, scope)
            arguments = _arguments(operation, texts, record.query, body)
            record = record._replace(
                key=key, arguments={k: v for k, v in arguments.items() if v is not None}
            )
        except Refusal as refusal:
            refused = ServiceReply.from_refusal(refusal)
        if fault is not None:
            record = record._replace(fault=fault.kind or "")
            await sleep(fault.latency_seconds)
            if control.generation != generation:
                # The run that asked is over; its write must not reach the next one.
                return None, None, record._replace(fault="stale")
            if fault.kind in ("429", "500", "drop"):
                return _fault_reply(fault, control), fault, record
        reply = refused if arguments is None else self._perform(operation, arguments, record.key)
        record = record._replace(wrote=reply.wrote)
        if fault is not None and fault.kind == "drop_after":
            return None, fault, record
        reply, change = self._drift(operation, reply, fault)
        return reply, fault, record._replace(change=change) if change else record

    def _drift(
        self, operation: Operation, reply: ServiceReply, fault: ServiceFault | None
    ) -> tuple[ServiceReply, str]:
        """Return a service's response with one field changed, and a description of the change.

        The field is changed if `fault` is a `drift`, or if the faults of the service always rename
        a field of this operation. Otherwise the response is unchanged and the description is empty.
        """
        faults = self._control.faults
        if faults is None or reply.status >= 300:
            return reply, ""
        answer = json.loads(reply.body)
        if fault is not None and fault.kind == "drift":
            changed, change = drift_answer(answer, operation=operation.id, seed=faults.seed)
            return ServiceReply.from_value(reply.status, changed), change
        if faults.renames(operation.id):
            changed, change = drift_answer(answer, operation=operation.id, seed=0, how="rename")
            return ServiceReply.from_value(reply.status, changed, headers=reply.headers), change
        return reply, ""

    def _perform(self, operation: Operation, arguments: Arguments, key: str) -> ServiceReply:
        """Return the handler's response to a request.

        If the idempotency key `key` was used before, return the response to its first request.
        """
        asked = ""
        if key:
            asked = json.dumps([operation.id, arguments], sort_keys=True)
            first = self._control.first_answer(key, asked)
            if first is not None:
                return replace(first, wrote=False)
        try:
            # Runs on the event loop: a handler is an indexed query of well under a millisecond,
            # which is less than the cost of a thread.
            reply = ServiceReply.from_value(
                operation.success,
                operation.handler(self._context, arguments),
                wrote=operation.writes,
            )
        except Refusal as refusal:
            reply = ServiceReply.from_refusal(refusal)
        if key:
            self._control.remember(key, asked, reply)
        return reply


def _fault_reply(fault: ServiceFault, control: Control) -> ServiceReply | None:
    """Return the error response of a fault that occurs before the operation is carried out.

    Return None if the connection must be closed without a response.
    """
    if fault.kind == "drop":
        return None
    if fault.kind == "500":
        return ServiceReply.from_value(500, {"detail": "the service failed; nothing was done."})
    wait = control.faults.retry_after_seconds if control.faults else 1
    return ServiceReply.from_value(
        429,
        {"detail": f"too many requests; try again in {wait} s."},
        headers=((b"retry-after", b"%d" % wait),),
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


def _arguments(
    operation: Operation, texts: list[tuple[str, str]], query: str, body: bytes
) -> Arguments:
    """Return an operation's arguments, read from the request's path, query and body."""
    in_body = [p for p in operation.parameters if operation.location(p) == "body"]
    in_text = [p for p in operation.parameters if operation.location(p) != "body"]
    arguments = read_texts(in_text, [*texts, *parse_qsl(query, keep_blank_values=True)])
    if not operation.has_body:
        return arguments
    values = _json_body(body)
    if not isinstance(values, dict):
        raise Refusal(422, "the body must be a JSON object of arguments.")
    return arguments | complete_arguments(in_body, values)


def _json_body(body: bytes) -> Json:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise Refusal(422, "the body must be JSON; it is not.") from None


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
    """Return the URL at which the client reached this service."""
    host = next(
        (value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), None
    )
    return f"{scope['scheme']}://{host or '{}:{}'.format(*scope['server'])}"
