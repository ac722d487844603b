"""The gateway over streamable HTTP: authentication by token, and the HTTP server."""

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
"""Seconds after which an idle MCP session ends. Its runs stay in the store."""


class BearerToken:
    """ASGI middleware that accepts only requests with a valid bearer token.

    Each token identifies one client. Tokens are compared in constant time. `atc.serve.shares`
    limits the connections and sessions of a token.
    """

    def __init__(self, app: ASGIApp, tokens: Sequence[str], *, sessions: Sessions) -> None:
        self._app = app
        self._sessions = sessions
        self.connections = Connections()
        self._expected = [f"bearer {token}".encode() for token in tokens]
        self._clients = [sha256(token.encode()).hexdigest() for token in tokens]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond with status 401 if the token is missing or wrong, else pass the request on.

        A request is refused, too, if its session was closed or belongs to another token.
        """
        if scope["type"] != "http":
            await self._pass_on(scope, receive, send)
            return
        kind, _, rest = header(scope, b"authorization").partition(b" ")
        token = kind.lower() + b" " + rest.strip()
        matches = [hmac.compare_digest(token, one) for one in self._expected]
        if not any(matches):
            problem = "A bearer token is needed; see atc serve --help.\n"
            headers = {"www-authenticate": "Bearer"}
            await PlainTextResponse(problem, 401, headers)(scope, receive, send)
            return
        client = scope[CLIENT] = self._clients[matches.index(True)]
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
        # The request was cancelled to make room, or the server ends and would log a traceback.
        with suppress(asyncio.CancelledError):
            await self._app(scope, receive, send)


def http_app(
    server: Server[Any], *, host: str, port: int, token: str, hosts: tuple[str, ...] = ()
) -> BearerToken:
    """Return the ASGI application that serves `server` with authentication.

    `token` may be several tokens, one for each client, separated by spaces. `hosts` are further
    names that clients use for this host. Requests with another Host header are refused, which
    prevents DNS rebinding. Requests with the Origin header of another site are refused, too.
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
        # More than the limits allow, because a session that is closed for a new one ends later.
        max_sessions=(SESSIONS_EACH + CONNECTIONS_EACH) * clients,
        host=host,
    )
    sessions = Sessions(app, host=f"{host}:{port}", path=PATH, tokens=clients)
    return BearerToken(app, tokens, sessions=sessions)


def serve_http(app: BearerToken, *, host: str, port: int) -> None:
    """Serve the gateway on a host and port until SIGINT or SIGTERM."""
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
    """Return True if `host` can be reached from this machine only."""
    with suppress(ValueError):
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    return host == "localhost"
