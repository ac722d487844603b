"""HTTP exchanges by `requests`, with one deadline and a limit on what is read, and redirects within an origin."""

from __future__ import annotations

import http.client
import io
import logging
import math
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, TypeAlias
from urllib.parse import urljoin

import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.util.connection import create_connection

from protocols.http.decoding import UndecodableBody, decompressor_for
from protocols.http.lookup import NameResolver, UnreachableAddress, look_up
from protocols.http.request import HttpRequest
from protocols.response import Answer
from protocols.urls import Origin, is_near, split_url

MAX_ERROR_BYTES: Final = 65_536
_KEPT = 8  # connections of one host, as many as a program's calls may overlap
_CHUNK = 65_536  # bytes
_MOST_REDIRECTS = 5
REDIRECTS: Final = (301, 302, 303, 307, 308)
_PASSING = (429, 502, 503, 504)
Take: TypeAlias = Callable[[Answer, Iterator[bytes]], Answer]
"""Reads the pieces of a body, whose answer has a status and headers, and returns the answer to give back."""
_FAILURES = (OSError, ValueError, http.client.HTTPException, urllib3.exceptions.HTTPError)
# They log URLs, in which a credential may stand, and what a server does wrong.
for _name in ("urllib3.connection", "urllib3.connectionpool", "urllib3.response"):
    logging.getLogger(_name).addFilter(lambda record: record.levelno >= logging.ERROR)


class _IncompleteBody(Exception):
    """A body ended before it was whole; has the `reason`."""

    def __init__(self, reason: Exception) -> None:
        super().__init__(str(reason))
        self.reason = reason


@dataclass(slots=True)
class _Exchange:
    """One exchange: what its connection must know, and what becomes known of it."""

    origin: Origin
    deadline: float
    names: NameResolver
    near: set[str]
    sent: bool = False
    """Whether any byte of the request may have left."""
    pause: float = math.inf
    """The moment until which the next piece must have come."""

    def allow(self, stall_seconds: float | None) -> None:
        """Give the next piece that many seconds from now on; with None, whatever is left."""
        if stall_seconds is not None:
            self.pause = time.monotonic() + stall_seconds

    def remaining(self) -> float:
        """Seconds until the deadline; raises `TimeoutError` after it."""
        left = min(self.deadline, self.pause) - time.monotonic()
        if left <= 0:
            raise TimeoutError("the deadline has passed")
        return left


_running = threading.local()
"""`exchange` is that of this thread, on which it stays."""


class _DeadlineReader(io.RawIOBase):
    """What a socket receives. Each wait ends at the deadline, whatever the other side sends little by little."""

    def __init__(self, connected: socket.socket, received: io.RawIOBase) -> None:
        self._socket = connected
        self._received = received

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._socket.settimeout(_running.exchange.remaining())
        return self._received.readinto(buffer)

    def close(self) -> None:
        self._received.close()
        super().close()


class _Response(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp: Any = io.BufferedReader(_DeadlineReader(sock, self.fp.detach()))

    def _read_status(self) -> Any:
        """The status of the answer itself: `http.client` passes over 100 alone of those that announce it."""
        while True:
            found: Any = super()._read_status()  # type: ignore[misc]
            if not 101 < found[1] < 200:
                return found
            http.client.parse_headers(self.fp)


class _DeadlineConnection:
    """Makes a connection go where it may, keep to the deadline, and note when a request begins to leave."""

    response_class: ClassVar[Any] = _Response

    def _new_conn(self) -> socket.socket:
        connection: Any = self
        exchange = _running.exchange
        host = exchange.origin.host
        direct = connection.proxy is None  # where a proxy is, the user said
        if direct:
            addresses = exchange.names.addresses(
                host, connection.port, seconds=exchange.remaining()
            )
        else:
            exchange.names.refuse_near_host(host)
            addresses = look_up(connection.host, connection.port, seconds=exchange.remaining())
        failure: OSError = OSError("the name has no address")
        for address in addresses:
            try:
                options = connection.socket_options
                connected = create_connection(
                    (address, connection.port), exchange.remaining(), socket_options=options
                )
            except OSError as error:
                failure = error
                continue
            if direct and is_near(address):
                exchange.near.add(host)
            return connected
        raise failure

    def connect(self) -> None:
        super().connect()  # type: ignore[misc]
        _running.exchange.sent = False  # a proxy's CONNECT is not the request

    def send(self, data: Any) -> None:
        connection: Any = self
        if connection.sock is None:
            connection.connect()
        _running.exchange.sent = True
        connection.sock.settimeout(_running.exchange.remaining())
        super().send(data)  # type: ignore[misc]


class _HttpPool(HTTPConnectionPool):
    ConnectionCls = type("_HttpConnection", (_DeadlineConnection, HTTPConnection), {})


class _HttpsPool(HTTPSConnectionPool):
    ConnectionCls = type("_HttpsConnection", (_DeadlineConnection, HTTPSConnection), {})


_POOLS = {"http": _HttpPool, "https": _HttpsPool}


class _Adapter(HTTPAdapter):
    def __init__(self, ssl_context: ssl.SSLContext | None) -> None:
        self._context: dict[str, Any] = {"ssl_context": ssl_context} if ssl_context else {}
        super().__init__(pool_connections=32, pool_maxsize=_KEPT)
        self.poolmanager.pool_classes_by_scheme = _POOLS

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        kwargs |= self._context
        super().init_poolmanager(*args, **kwargs)

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> Any:
        manager = super().proxy_manager_for(proxy, **kwargs, **self._context)
        if not proxy.lower().startswith("socks"):  # SOCKS has connections of its own
            manager.pool_classes_by_scheme = _POOLS
        return manager


class Transport:
    """Pooled connections, safe for threads. No redirects, no cookies kept, no netrc; proxies as the environment says.

    The adapter is used without a `requests.Session`, which would bring all of the above.
    """

    def __init__(
        self,
        *,
        max_body_bytes: int,
        homes: set[str] | None,
        root: str = "",
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        """Make a transport for bodies of at most `max_body_bytes`; `homes` and `root` are those of `Names`.

        `ssl_context` decides which certificates are trusted, in place of those that `requests` trusts.
        """
        self.near: set[str] = set()
        """Hosts that were reached on this machine or its networks."""
        self._names = NameResolver(homes, root=root)
        self._adapter = _Adapter(ssl_context)
        self._max_body = max_body_bytes
        self._routes: dict[Origin, Mapping[str, Any]] = {}

    def close(self) -> None:
        """Close idle connections. A later request opens new ones."""
        self._adapter.close()

    def send(self, request: HttpRequest, origin: Origin, *, deadline: float) -> Answer:
        """Send `request`, whose credentials are meant for `origin`, and read the answer, both until `deadline`."""
        return self.receive(request, origin, deadline=deadline, take=self._read_whole_body)

    def receive(
        self,
        request: HttpRequest,
        origin: Origin,
        *,
        deadline: float,
        take: Take,
        stall_seconds: float | None = None,
    ) -> Answer:
        """Send `request` and give the answer's head and the pieces of its body to `take`, whose answer is returned.

        All of it must be done at `deadline`. With `stall_seconds`, each piece of 64 KiB must come within them, too.
        """
        _running.exchange = exchange = _Exchange(origin, deadline, self._names, self.near)
        prepared = requests.PreparedRequest()
        try:
            # Text of a header travels as UTF-8; given as `str` it would have to be Latin-1.
            headers = {k: v if v.isascii() else v.encode() for k, v in request.headers.items()}
            prepared.prepare(
                method=request.method, url=request.url, headers=headers, data=request.body
            )
            if split_url(str(prepared.url))[0] != origin:
                return Answer(trouble=f"the address of {origin.netloc} is ambiguous", sent=False)
            exchange.allow(stall_seconds)
            left = exchange.remaining()
            route = self._route(origin)
            # Those of SOCKS note nothing: assume the worst there.
            exchange.sent = any(
                str(proxy).startswith("socks") for proxy in route["proxies"].values()
            )
            response = self._adapter.send(prepared, stream=True, timeout=(left, left), **route)
        except _FAILURES as error:
            return _failed_answer(error, origin, sent=exchange.sent)
        fields = {name.lower(): value for name, value in response.headers.items()}
        head = Answer(
            status=response.status_code, headers=fields, passing=response.status_code in _PASSING
        )
        with response:
            try:
                return take(head, _iter_pieces(response, exchange, stall_seconds))
            except _IncompleteBody as broken:
                if isinstance(broken.reason, UndecodableBody):  # nor will it be the next time
                    return Answer(
                        status=head.status, trouble=f"the body from {origin.netloc} {broken.reason}"
                    )
                return _failed_answer(broken.reason, origin, sent=True)

    def _route(self, origin: Origin) -> Mapping[str, Any]:
        """Proxies and trusted certificates as the environment has them. Cached: to look is as slow as a call."""
        if origin not in self._routes:
            self._routes[origin] = route_to(origin)
        return self._routes[origin]

    def _read_whole_body(self, head: Answer, pieces: Iterator[bytes]) -> Answer:
        """Return the answer with its body; of an error, with as much of it as came."""
        body = bytearray()
        succeeded = 200 <= (head.status or 0) < 300
        limit = self._max_body if succeeded else MAX_ERROR_BYTES
        try:
            for piece in pieces:
                body += piece
                if len(body) > limit:
                    break
        except _IncompleteBody:
            if succeeded:  # of an error, the status says what matters
                raise
        if succeeded and len(body) > limit:
            return Answer(
                status=head.status,
                trouble=f"the body is over the limit of {limit:,} bytes; ask for less",
            )
        return Answer(
            status=head.status, headers=head.headers, body=bytes(body[:limit]), passing=head.passing
        )


def route_to(origin: Origin) -> Mapping[str, Any]:
    """Return the `proxies`, and the certificates to `verify` with, that the environment has for an origin."""
    with requests.Session() as session:
        found = session.merge_environment_settings(f"{origin.url}/", {}, True, None, None)
    return {key: found[key] for key in ("proxies", "verify", "cert")}


def _iter_pieces(
    response: requests.Response, exchange: _Exchange, stall_seconds: float | None
) -> Iterator[bytes]:
    """Yield the body, decompressed, in pieces of at most 64 KiB. Raises `_IncompleteBody` where no more of it comes."""
    try:
        steps = decompressor_for(response.headers.get("content-encoding", ""))
        while received := response.raw.read(_CHUNK, decode_content=False):
            for piece in steps(received):
                exchange.remaining()
                if piece:
                    exchange.allow(stall_seconds)
                    yield piece
    except _FAILURES as error:
        raise _IncompleteBody(error) from error


def _failed_answer(error: Exception, origin: Origin, *, sent: bool) -> Answer:
    if isinstance(error, UnreachableAddress):
        advice = (
            f"where the tool's source is not; if its service runs there, give 'SOURCE@{origin.url}'"
        )
        if error.forbidden:
            advice = "which these tools may not call: near_hosts is off"
        return Answer(trouble=f"{error}, {advice}", sent=False)
    # requests refuses what cannot be sent at all (a malformed URL or header, a proxy it has no code for) as ValueError.
    sent = sent and not (
        isinstance(error, ValueError) and isinstance(error, requests.RequestException)
    )
    if isinstance(error, TimeoutError | requests.Timeout | urllib3.exceptions.TimeoutError):
        what = "no complete answer from" if sent else "no connection to"
        return Answer(trouble=f"{what} {origin.netloc} in time", sent=sent, passing=not sent)
    reason = _reason(error)
    if sent:
        return Answer(trouble=f"the connection to {origin.netloc} broke: {reason}", passing=True)
    trouble = f"cannot connect to {origin.netloc} ({reason}); check that the service runs, and its address"
    return Answer(trouble=trouble, sent=False, passing=True)


def _reason(error: BaseException, *, deepest: int = 8) -> str:
    """The innermost cause in a few words: the outer ones repeat it with the URL, and a URL may hold a secret."""
    within = (getattr(error, "reason", None), *error.args, error.__cause__, error.__context__)
    inner = next((one for one in within if isinstance(one, BaseException)), None)
    if inner is not None and deepest:
        return _reason(inner, deepest=deepest - 1)
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__)[:200]


def follow_redirects(
    request: HttpRequest, send: Callable[[HttpRequest], Answer]
) -> tuple[Answer, HttpRequest]:
    """The answer after redirects within the origin: of GET and HEAD, and of others only a 303.

    Its `trouble` says why the last redirect was not followed, if it was not. Also the request that was answered.
    """
    for _ in range(_MOST_REDIRECTS + 1):
        answer = send(request)
        if answer.status not in REDIRECTS or "location" not in answer.headers:
            return answer, request
        home, _ = split_url(request.url)
        try:
            target = urljoin(request.url, answer.headers["location"]).partition("#")[0]
            goal, _ = split_url(target)
        except ValueError:
            return replace(answer, trouble="the redirect leads to no http(s) address"), request
        if goal != home:
            trouble = f"the redirect leads to another origin, {target}; if you trust it, give that address yourself"
            return replace(answer, trouble=trouble), request
        if request.method not in ("GET", "HEAD"):
            if answer.status != 303:
                return replace(
                    answer, trouble=f"a {request.method} is not sent on to {target}"
                ), request
            kept = {k: v for k, v in request.headers.items() if k != "Content-Type"}
            request = replace(request, method="GET", headers=kept, body=None)
        request = replace(request, url=target)
    return replace(answer, trouble=f"more than {_MOST_REDIRECTS} redirects"), request
