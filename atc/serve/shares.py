"""Limits on the HTTP connections and MCP sessions of each bearer token.

Beyond a limit, the connection or session that has been idle longest is closed.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, ClassVar

from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from atc.serve.fair_queue import ClientQuota

CONNECTIONS_EACH = 128
"""Maximum number of open connections of one token."""
ANONYMOUS_CONNECTIONS = 256
"""Maximum number of open connections that have not sent a token yet."""
MOST_CONNECTIONS = 500
"""Maximum number of open connections in all."""
SESSIONS_EACH = 32
"""Maximum number of open sessions of one token."""
_CLOSED_KEPT = 10_000
"""Number of closed sessions that are remembered, to tell their clients why they were closed."""
_READING_SECONDS = 1.0
"""Seconds that a client has to read the last response before its connection is aborted."""
_CONNECTION = "atc.connection"
_SESSION = b"mcp-session-id"


class OpenRequest:
    """An HTTP request whose response is not complete yet.

    `give_way` ends the request early, to make room for other requests.
    """

    def __init__(self, send: Send) -> None:
        self.gave_way = False
        self._send = send
        self._started = False
        self._streams = False
        self._ended = False
        self._task = asyncio.current_task()

    async def send(self, message: Message) -> None:
        """Send a part of the response, and record whether the response has begun or is complete."""
        if message["type"] == "http.response.start":
            self._started = True
            self._streams = header(message, b"content-type").startswith(b"text/event-stream")
        self._ended = message["type"] == "http.response.body" and not message.get(
            "more_body", False
        )
        await self._send(message)

    async def finish(self) -> None:
        """End the response if it has begun and is incomplete.

        This is called when the request was cancelled.
        """
        if self._started and not self._ended:
            await self.send({"type": "http.response.body", "body": b"", "more_body": False})

    def give_way(self) -> None:
        """Cancel the task that handles the request. Then `explain` tells the client why."""
        self.gave_way = True
        if self._task is not None:
            self._task.cancel()

    async def explain(self, scope: Scope) -> None:
        """Tell the client why the request was ended early, if this is still possible.

        If the response has not begun, a response with the reason is sent. If the response is an
        event stream that has begun, the reason is sent as a comment. Any other response that has
        begun is only ended.
        """
        reason = (
            f"This token has more than {CONNECTIONS_EACH} connections open, or all tokens more than"
            f" {MOST_CONNECTIONS}: the one that was idle longest gave way. Read and close what is"
            " open, then ask again."
        )
        if not self._started:
            await PlainTextResponse(f"{reason}\n", 503, {"connection": "close"})(
                scope, _empty_message, self._send
            )
            return
        body = f": {reason}\n\n".encode() if self._streams else b""
        await self._send({"type": "http.response.body", "body": body, "more_body": False})


class Connection(H11Protocol):
    """An HTTP connection that counts towards the limit of its token.

    There is a subclass for each server. Its attribute `shares` limits the server's connections.
    """

    shares: ClassVar[ClientQuota[Connection]]
    exchange: OpenRequest | None = None
    """The request that is being answered; None if the connection is idle."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.app_state = {**self.app_state, _CONNECTION: self}

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the new connection. Its token is not known before the first request."""
        super().connection_made(transport)
        self.shares.use("", self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop counting the connection towards the limit of its token."""
        self.shares.drop(self)
        super().connection_lost(exc)

    def give_way(self) -> None:
        """Close the connection. If a request is being answered, its response says why."""
        if self.exchange is None:
            self.transport.close()
        else:
            self.exchange.give_way()
        self.loop.call_later(_READING_SECONDS, self._close_for_good)

    def _close_for_good(self) -> None:
        """Close the connection, and drop unsent data if the client does not read."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            self.transport.close()


class Connections:
    """Counts the open connections of one server, and closes idle ones beyond the limits."""

    def __init__(self) -> None:
        self._shares: ClientQuota[Connection] = ClientQuota(
            Connection.give_way,
            each=CONNECTIONS_EACH,
            most=MOST_CONNECTIONS,
            anonymous=ANONYMOUS_CONNECTIONS,
            busy=lambda connection: connection.exchange is not None,
        )

    def protocol(self) -> type[Connection]:
        """Return the subclass of `Connection` that uvicorn uses for each connection."""
        return type("Connection", (Connection,), {"shares": self._shares})

    @contextmanager
    def track_request(self, scope: Scope, client: str, send: Send) -> Iterator[OpenRequest]:
        """Within the block, mark the connection of a request as busy, and as belonging to `client`.

        Yield an object for the request. Its method `send` must be used instead of the function
        `send`.
        """
        exchange = OpenRequest(send)
        connection: Connection | None = scope.get("state", {}).get(_CONNECTION)
        if connection is None:
            yield exchange
            return
        connection.exchange = exchange
        self._shares.use(client, connection)
        try:
            yield exchange
        finally:
            connection.exchange = None
            if self._shares.owner(connection) is not None:  # it is still open
                self._shares.use(client, connection)


class Sessions:
    """Counts the open sessions of one MCP server, and ends idle ones beyond the limits.

    Each session belongs to the token that opened it.
    """

    def __init__(self, app: ASGIApp, *, host: str, path: str, tokens: int) -> None:
        self._app = app
        self._host = host
        self._path = path
        self._requests: Counter[str] = Counter()  # number of running requests, keyed by session
        self._closed: OrderedDict[str, None] = OrderedDict()
        self._ending: set[asyncio.Task[None]] = set()
        self._shares: ClientQuota[str] = ClientQuota(
            self._give_way,
            each=SESSIONS_EACH,
            most=SESSIONS_EACH * tokens,
            busy=lambda session: self._requests[session] > 0,
        )

    def refusal(self, scope: Scope, client: str) -> Response | None:
        """Return an error response if the session of a request cannot be used, else None.

        It cannot be used if it was closed because of the limits, or if another token opened it.
        """
        session = header(scope, _SESSION).decode("latin-1")
        if session in self._closed:
            reason = (
                f"This session was closed: its token opened more than {SESSIONS_EACH}, and the one"
                " that was idle longest gives way. Send initialize to begin a new one.\n"
            )
            return PlainTextResponse(reason, 404)
        if self._shares.owner(session) not in (None, client):
            return PlainTextResponse(
                "There is no such session; send initialize to begin one.\n", 404
            )
        return None

    @contextmanager
    def track_session(self, scope: Scope, client: str, send: Send) -> Iterator[Send]:
        """Within the block, count the session of a request as busy.

        Yield a function that must be used instead of `send` to send the response. It also records
        which session the response opens or ends.
        """
        session = header(scope, _SESSION).decode("latin-1")
        if session and self._shares.owner(session) is not None:
            self._shares.use(client, session)
            self._requests[session] += 1

        async def watched_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._note_response(scope, message, client, session)
            await send(message)

        try:
            yield watched_send
        finally:
            self._requests[session] -= 1
            if self._requests[session] <= 0:
                del self._requests[session]

    def _note_response(self, scope: Scope, message: Message, client: str, session: str) -> None:
        """Record from a response which session it has opened or ended, if any.

        `session` is the session that the request names; if it is empty, the response may open one,
        which then belongs to `client`.
        """
        failed = message["status"] >= 400
        if not session:
            opened = header(message, _SESSION).decode("latin-1")
            if opened and not failed:
                self._shares.use(client, opened)
        elif message["status"] == 404 or (scope["method"] == "DELETE" and not failed):
            self._shares.drop(session)

    def _give_way(self, session: str) -> None:
        """End a session, and remember that it was closed."""
        self._closed[session] = None
        if len(self._closed) > _CLOSED_KEPT:
            self._closed.popitem(last=False)
        task = asyncio.get_running_loop().create_task(self._end(session))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _end(self, session: str) -> None:
        """End a session with the DELETE request that a client would send for this."""
        headers = [(b"host", self._host.encode()), (_SESSION, session.encode("latin-1"))]
        scope: Scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "DELETE",
            "scheme": "http",
            "path": self._path,
            "raw_path": self._path.encode(),
            "root_path": "",
            "query_string": b"",
            "headers": headers,
        }
        with suppress(Exception):  # it may have ended by itself
            await self._app(scope, _empty_message, _discard)


def header(message: Scope | Message, name: bytes) -> bytes:
    """Return the value of a header of a request or response; empty if the header is missing."""
    headers = message.get("headers", ())
    return next((bytes(value) for key, value in headers if key.lower() == name), b"")


async def _empty_message() -> Message:
    """Return the message of an empty request body. Used as an ASGI `receive` function."""
    return {"type": "http.request", "body": b"", "more_body": False}


async def _discard(message: Message) -> None:
    """Ignore a message. Used as an ASGI `send` function."""
