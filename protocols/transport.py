"""HTTP exchanges by `requests`, with one deadline and a limit on what is read, and redirects within an origin."""

from __future__ import annotations

import http.client
import io
import logging
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final
from urllib.parse import urljoin

import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.util.connection import create_connection

from protocols.origin import Origin, is_near, may_reach, split_url
from protocols.reply import Answer
from protocols.request import HttpRequest

MAX_ERROR_BYTES: Final = 65_536
_KEPT = 8  # connections of one host, as many as a program's calls may overlap
_CHUNK = 65_536  # bytes
_MOST_REDIRECTS = 5
_REDIRECTS = (301, 302, 303, 307, 308)
_PASSING = (429, 502, 503, 504)
_FAILURES = (OSError, ValueError, http.client.HTTPException, urllib3.exceptions.HTTPError)
for _name in ("urllib3.connection", "urllib3.connectionpool"):  # they log URLs, and a credential may stand in one
    logging.getLogger(_name).addFilter(lambda record: record.levelno >= logging.ERROR)


class _NotThere(ValueError):
    """A name leads to an address at which its service cannot be."""


@dataclass(slots=True)
class _Exchange:
    """One exchange: what its connection must know, and what becomes known of it."""

    origin: Origin
    deadline: float
    homes: set[str] | None
    near: set[str]
    sent: bool = False
    """Whether any byte of the request may have left."""

    def remaining(self) -> float:
        """Seconds until the deadline; raises `TimeoutError` after it."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the deadline has passed")
        return left


_running = threading.local()
"""`exchange` is that of this thread, on which it stays."""


class _Reads(io.RawIOBase):
    """What a socket receives. Each wait ends at the deadline, whatever the other side sends little by little."""

    def __init__(self, connected: socket.socket, received: io.RawIOBase) -> None:
        self._socket, self._received = connected, received

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
        self.fp: Any = io.BufferedReader(_Reads(sock, self.fp.detach()))

    def _read_status(self) -> Any:
        """The status of the answer itself: `http.client` passes over 100 alone of those that announce it."""
        while True:
            found: Any = super()._read_status()  # type: ignore[misc]
            if not 101 < found[1] < 200:
                return found
            http.client.parse_headers(self.fp)


class _Timed:
    """Makes a connection go where it may, keep to the deadline, and note when a request begins to leave."""

    response_class: ClassVar[Any] = _Response

    def _new_conn(self) -> socket.socket:
        connection: Any = self
        exchange, host = _running.exchange, _running.exchange.origin.host
        found = socket.getaddrinfo(connection.host.strip("[]"), connection.port, type=socket.SOCK_STREAM)
        direct = connection.proxy is None  # where a proxy is, the user said
        failure: OSError = OSError("the name has no address")
        for address in dict.fromkeys(str(address[0]) for *_, address in found):
            if direct and not may_reach(host, address, exchange.homes):
                raise _NotThere(_not_there(exchange, address))
            try:
                options = connection.socket_options
                connected = create_connection((address, connection.port), exchange.remaining(), socket_options=options)
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
    ConnectionCls = type("_HttpConnection", (_Timed, HTTPConnection), {})


class _HttpsPool(HTTPSConnectionPool):
    ConnectionCls = type("_HttpsConnection", (_Timed, HTTPSConnection), {})


_POOLS = {"http": _HttpPool, "https": _HttpsPool}


class _Adapter(HTTPAdapter):
    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> Any:
        manager = super().proxy_manager_for(proxy, **kwargs)
        if not proxy.lower().startswith("socks"):  # SOCKS has connections of its own
            manager.pool_classes_by_scheme = _POOLS
        return manager


class Transport:
    """Pooled connections, safe for threads. No redirects, no cookies kept, no netrc; proxies as the environment says.

    The adapter is used without a `requests.Session`, which would bring all of the above.
    """

    def __init__(self, *, max_body_bytes: int, homes: set[str] | None) -> None:
        """`homes`: hosts that may be on this machine or its networks, since the user said that a service is there.

        None: no host may be.
        """
        self.near: set[str] = set()
        """Hosts that were found there."""
        self._homes = homes
        self._adapter = _Adapter(pool_connections=32, pool_maxsize=_KEPT)
        self._adapter.poolmanager.pool_classes_by_scheme = _POOLS
        self._max_body = max_body_bytes
        self._routes: dict[Origin, Mapping[str, Any]] = {}

    def close(self) -> None:
        """Close idle connections. A later request opens new ones."""
        self._adapter.close()

    def send(self, request: HttpRequest, origin: Origin, *, deadline: float) -> Answer:
        """Send `request`, whose credentials are meant for `origin`, and read the answer, both until `deadline`."""
        _running.exchange = exchange = _Exchange(origin, deadline, self._homes, self.near)
        # Text of a header travels as UTF-8; given as `str` it would have to be Latin-1.
        headers = {k: v if v.isascii() else v.encode() for k, v in request.headers.items()}
        prepared = requests.PreparedRequest()
        try:
            prepared.prepare(method=request.method, url=request.url, headers=headers, data=request.body)
            if split_url(str(prepared.url))[0] != origin:
                return Answer(trouble=f"the address of {origin.netloc} is ambiguous", sent=False)
            left, route = exchange.remaining(), self._route(origin)
            # Those of SOCKS note nothing: assume the worst there.
            exchange.sent = any(str(proxy).startswith("socks") for proxy in route["proxies"].values())
            with self._adapter.send(prepared, stream=True, timeout=(left, left), **route) as response:
                return self._read(response)
        except _FAILURES as error:
            return _lost(error, origin, sent=exchange.sent)

    def _route(self, origin: Origin) -> Mapping[str, Any]:
        """Proxies and trusted certificates as the environment has them. Cached: to look is as slow as a call."""
        if origin not in self._routes:
            with requests.Session() as session:
                found = session.merge_environment_settings(f"{origin.url}/", {}, True, None, None)
            self._routes[origin] = {key: found[key] for key in ("proxies", "verify", "cert")}
        return self._routes[origin]

    def _read(self, response: requests.Response) -> Answer:
        status, body = response.status_code, bytearray()
        succeeded = 200 <= status < 300
        limit = self._max_body if succeeded else MAX_ERROR_BYTES
        try:
            while len(body) <= limit and (chunk := response.raw.read(_CHUNK, decode_content=True)):
                body += chunk
        except _FAILURES:
            if succeeded:  # of an error, the status says what matters
                raise
        if succeeded and len(body) > limit:
            return Answer(status=status, trouble=f"the body is over the limit of {limit:,} bytes; ask for less")
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Answer(status=status, headers=headers, body=bytes(body[:limit]), passing=status in _PASSING)


def _lost(error: Exception, origin: Origin, *, sent: bool) -> Answer:
    if isinstance(error, _NotThere):
        return Answer(trouble=str(error), sent=False)
    # requests refuses what cannot be sent at all (a malformed URL or header, a proxy it has no code for) as ValueError.
    sent = sent and not (isinstance(error, ValueError) and isinstance(error, requests.RequestException))
    if isinstance(error, TimeoutError | requests.Timeout | urllib3.exceptions.TimeoutError):
        what = "no complete answer from" if sent else "no connection to"
        return Answer(trouble=f"{what} {origin.netloc} in time", sent=sent, passing=not sent)
    reason = _reason(error)
    if sent:
        return Answer(trouble=f"the connection to {origin.netloc} broke: {reason}", passing=True)
    trouble = f"cannot connect to {origin.netloc} ({reason}); check that the service runs, and its address"
    return Answer(trouble=trouble, sent=False, passing=True)


def _not_there(exchange: _Exchange, address: str) -> str:
    """Return why a connection is not made to an address near by."""
    place = f"{exchange.origin.host} is at {address}, on this machine or its own network,"
    if exchange.homes is None:
        return f"{place} which these tools may not call: near_hosts is off"
    return f"{place} where the tool's source is not; if its service runs there, give 'SOURCE@{exchange.origin.url}'"


def _reason(error: BaseException, *, deepest: int = 8) -> str:
    """The innermost cause in a few words: the outer ones repeat it with the URL, and a URL may hold a secret."""
    within = (getattr(error, "reason", None), *error.args, error.__cause__, error.__context__)
    inner = next((one for one in within if isinstance(one, BaseException)), None)
    if inner is not None and deepest:
        return _reason(inner, deepest=deepest - 1)
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__)[:200]


def follow(request: HttpRequest, send: Callable[[HttpRequest], Answer]) -> tuple[Answer, HttpRequest]:
    """The answer after redirects within the origin: of GET and HEAD, and of others only a 303.

    Its `trouble` says why the last redirect was not followed, if it was not. Also the request that was answered.
    """
    for _ in range(_MOST_REDIRECTS + 1):
        answer = send(request)
        if answer.status not in _REDIRECTS or "location" not in answer.headers:
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
                return replace(answer, trouble=f"a {request.method} is not sent on to {target}"), request
            kept = {k: v for k, v in request.headers.items() if k != "Content-Type"}
            request = replace(request, method="GET", headers=kept, body=None)
        request = replace(request, url=target)
    return replace(answer, trouble=f"more than {_MOST_REDIRECTS} redirects"), request
