"""The gateway over streamable HTTP: authentication, and a server that stops on a signal."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any

import uvicorn
from mcp.server.lowlevel.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from atc.serve.server import CLIENT
from atc.serve.shares import CONNECTIONS_EACH, SESSIONS_EACH, Connections, Sessions, header

PATH = "/mcp"
LARGEST_REQUEST = 2 * 2**20
"""Largest size of one request, in bytes."""
IDLE_SECONDS = 1800.0
"""Seconds after which an idle session is forgotten; its runs are kept."""


class BearerToken:
    """Middleware that accepts only requests with one of the gateway's tokens. Each token stands for
    a client.

    Comparing takes the same time for every token. `atc.serve.shares` limits what a token keeps
    open.
    """

    def __init__(self, app: ASGIApp, tokens: Sequence[str], *, sessions: Sessions) -> None:
        self._app = app
        self._sessions = sessions
        self.connections = Connections()
        self._expected = [f"bearer {token}".encode() for token in tokens]
        self._clients = [sha256(token.encode()).hexdigest() for token in tokens]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401 if the token is missing or wrong, else pass the request on."""
        if scope["type"] != "http":
            await self._pass_on(scope, receive, send)
            return
        kind, _, rest = header(scope, b"authorization").partition(b" ")
        token = kind.lower() + b" " + rest.strip()
        fitting = [
            number for number, one in enumerate(self._expected) if hmac.compare_digest(token, one)
        ]
        if not fitting:
            said = "A bearer token is needed; see atc serve --help.\n"
            headers = {"www-authenticate": "Bearer"}
            await PlainTextResponse(said, 401, headers)(scope, receive, send)
            return
        client = scope[CLIENT] = self._clients[fitting[0]]
        with self.connections.track_request(scope, client, send) as exchange:
            if (refusal := self._sessions.refusal(scope, client)) is not None:
                await refusal(scope, receive, exchange.send)
                return
            with self._sessions.track_session(scope, client, exchange.send) as watched:
                await self._pass_on(scope, receive, watched)
            if exchange.gave_way:
                await exchange.explain(scope)
            else:
                await exchange.finish()

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(
            asyncio.CancelledError
        ):  # it gave way; or the server ends, whose log would show a traceback
            await self._app(scope, receive, send)


def http_app(
    server: Server[Any], *, host: str, port: int, token: str, hosts: tuple[str, ...] = ()
) -> BearerToken:
    """Return the ASGI application. `token` may hold several tokens with spaces between, one for
    each client.

    `hosts` are further names by which clients reach it. Requests with another Host header are
    refused, which stops a page whose name was rebound to this address. So are requests with the
    Origin of another site.
    """
    tokens = token.split()
    clients = max(len(tokens), 1)
    names = {host, *hosts, *(("127.0.0.1", "localhost", "[::1]") if is_loopback(host) else ())}
    security = TransportSecuritySettings(
        allowed_hosts=[*names, *(f"{name}:{port}" for name in names)],
        allowed_origins=[
            f"{scheme}://{name}:{port}" for name in names for scheme in ("http", "https")
        ],
    )
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        transport_security=security,
        max_request_body_size=LARGEST_REQUEST,
        session_idle_timeout=IDLE_SECONDS,
        # More than the clients' shares, since a session that gives way ends a moment after the new one has begun.
        max_sessions=(SESSIONS_EACH + CONNECTIONS_EACH) * clients,
        host=host,
    )
    sessions = Sessions(app, host=f"{host}:{port}", path=PATH, tokens=clients)
    return BearerToken(app, tokens, sessions=sessions)


def serve_http(app: BearerToken, *, host: str, port: int) -> None:
    """Serve until SIGINT or SIGTERM."""
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_level="warning",
        timeout_graceful_shutdown=3,
        server_header=False,
        http=app.connections.protocol(),
        proxy_headers=False,
    )
    uvicorn.Server(config).run()


def is_loopback(host: str) -> bool:
    """Return True if `host` can be reached from this machine alone."""
    with suppress(ValueError):
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    return host == "localhost"
