"""Limits on the connections and sessions of each token over HTTP.

Beyond a limit, the connection or session that has been idle longest is closed to make room.
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
"""Connections of one token."""
ANONYMOUS_CONNECTIONS = 256
"""Connections that have not sent a token yet."""
MOST_CONNECTIONS = 500
"""Connections in all."""
SESSIONS_EACH = 32
"""Sessions of one token."""
_CLOSED_KEPT = 10_000
"""Closed sessions that are remembered, so that their clients get the reason."""
_READING_SECONDS = 1.0
"""Seconds after which a closing connection is aborted if its client does not read."""
_CONNECTION = "atc.connection"
_SESSION = b"mcp-session-id"


class OpenRequest:
    """One request that is being answered."""

    def __init__(self, send: Send) -> None:
        self.gave_way = False
        self._send = send
        self._started = False
        self._streams = False
        self._ended = False
        self._task = asyncio.current_task()

    async def send(self, message: Message) -> None:
        """Send a part of the response."""
        if message["type"] == "http.response.start":
            self._started = True
            self._streams = header(message, b"content-type").startswith(b"text/event-stream")
        self._ended = message["type"] == "http.response.body" and not message.get(
            "more_body", False
        )
        await self._send(message)

    async def finish(self) -> None:
        """End the response if it was left unfinished, such as that of a cancelled request."""
        if self._started and not self._ended:
            await self.send({"type": "http.response.body", "body": b"", "more_body": False})

    def give_way(self) -> None:
        """Cancel the request's task and explain why in the response."""
        self.gave_way = True
        if self._task is not None:
            self._task.cancel()

    async def explain(self, scope: Scope) -> None:
        """Send the reason why the request was ended."""
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
    """A connection that counts towards the limit of its token."""

    shares: ClassVar[ClientQuota[Connection]]
    exchange: OpenRequest | None = None
    """The request that is being answered."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.app_state = {**self.app_state, _CONNECTION: self}

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count a new connection, whose token is not known yet."""
        super().connection_made(transport)
        self.shares.use("", self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop counting the connection."""
        self.shares.drop(self)
        super().connection_lost(exc)

    def give_way(self) -> None:
        """Close the connection; a client that waits for a response gets the reason."""
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
    """The connections of one server."""

    def __init__(self) -> None:
        self._shares: ClientQuota[Connection] = ClientQuota(
            Connection.give_way,
            each=CONNECTIONS_EACH,
            most=MOST_CONNECTIONS,
            anonymous=ANONYMOUS_CONNECTIONS,
            busy=lambda connection: connection.exchange is not None,
        )

    def protocol(self) -> type[Connection]:
        """Return the protocol class that uvicorn uses for each connection."""
        return type("Connection", (Connection,), {"shares": self._shares})

    @contextmanager
    def track_request(self, scope: Scope, client: str, send: Send) -> Iterator[OpenRequest]:
        """Count a request of this client as being answered within the block."""
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
    """The sessions of one MCP server. Each belongs to one token."""

    def __init__(self, app: ASGIApp, *, host: str, path: str, tokens: int) -> None:
        self._app = app
        self._host = host
        self._path = path
        self._requests: Counter[str] = Counter()  # running ones, by session
        self._closed: OrderedDict[str, None] = OrderedDict()
        self._ending: set[asyncio.Task[None]] = set()
        self._shares: ClientQuota[str] = ClientQuota(
            self._give_way,
            each=SESSIONS_EACH,
            most=SESSIONS_EACH * tokens,
            busy=lambda session: self._requests[session] > 0,
        )

    def refusal(self, scope: Scope, client: str) -> Response | None:
        """Return a refusal if the session of a request is closed or another token's, else None."""
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
        """Count the session of a request as busy within the block.

        Yield a function to use instead of `send`.
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
        """Record which session a response opens or ends."""
        failed = message["status"] >= 400
        if not session:
            opened = header(message, _SESSION).decode("latin-1")
            if opened and not failed:
                self._shares.use(client, opened)
        elif message["status"] == 404 or (scope["method"] == "DELETE" and not failed):
            self._shares.drop(session)

    def _give_way(self, session: str) -> None:
        """End a session as its client would end it."""
        self._closed[session] = None
        if len(self._closed) > _CLOSED_KEPT:
            self._closed.popitem(last=False)
        task = asyncio.get_running_loop().create_task(self._end(session))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _end(self, session: str) -> None:
        """Send the server the request with which a client ends a session."""
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
    """Return the body of a request without one."""
    return {"type": "http.request", "body": b"", "more_body": False}


async def _discard(message: Message) -> None:
    """Ignore a message."""
