"""One HTTP exchange by `requests`, with a deadline that holds for every byte and a limit on what is read."""

from __future__ import annotations

import http.client
import io
import logging
import socket
import threading
import time
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from protocols.credentials import Mask
from protocols.origin import Origin, split_url
from protocols.reply import Answer, Lost
from protocols.request import HttpRequest

_CHUNK = 65_536  # bytes
MAX_ERROR_BYTES: Final = 65_536
_ENCODINGS = ("", "identity", "gzip", "x-gzip", "deflate")
_FAILURES = (OSError, ValueError, zlib.error, http.client.HTTPException, urllib3.exceptions.HTTPError)
_LOGGERS = ("urllib3.connection", "urllib3.connectionpool")


class _Exchange(threading.local):
    """What the running exchange of this thread needs to know down at its socket. An exchange stays on its thread."""

    deadline = 0.0  # on the monotonic clock
    sent = False

    def remaining(self) -> float:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the deadline has passed")
        return left


_exchange = _Exchange()


class _Incoming(io.RawIOBase):
    """Bytes from a socket until the deadline. A socket's own time-out starts anew with each byte that drips in."""

    def __init__(self, raw: io.RawIOBase, sock: socket.socket) -> None:
        self._raw, self._sock = raw, sock

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._sock.settimeout(_exchange.remaining())
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Response(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp: Any = io.BufferedReader(_Incoming(self.fp.detach(), sock), _CHUNK)


class _Timed:
    """Makes a connection note when the first byte of a request leaves, and hold the deadline while it does."""

    response_class: ClassVar[Any] = _Response

    def connect(self) -> None:
        _exchange.sent = False
        try:
            super().connect()  # type: ignore[misc]
        finally:
            _exchange.sent = False  # a proxy's CONNECT is not the request

    def send(self, data: Any) -> None:
        connection: Any = self
        if connection.sock is None and connection.auto_open:
            connection.connect()
        _exchange.sent = True
        connection.sock.settimeout(_exchange.remaining())
        super().send(data)  # type: ignore[misc]


class _HttpConnection(_Timed, HTTPConnection):
    pass


class _HttpsConnection(_Timed, HTTPSConnection):
    pass


class _HttpPool(HTTPConnectionPool):
    ConnectionCls = _HttpConnection


class _HttpsPool(HTTPSConnectionPool):
    ConnectionCls = _HttpsConnection


class _Adapter(HTTPAdapter):
    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": _HttpPool, "https": _HttpsPool}

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> Any:
        manager = super().proxy_manager_for(proxy, **kwargs)
        if not proxy.lower().startswith("socks"):
            manager.pool_classes_by_scheme = {"http": _HttpPool, "https": _HttpsPool}
        return manager


class Transport:
    """Pooled connections, safe for threads. No redirects, no cookies kept, no netrc; proxies as the environment says.

    The adapter is used without a `requests.Session`, which would bring all of the above.
    """

    def __init__(self, *, connections_per_host: int, max_body_bytes: int, mask: Mask) -> None:
        self._adapter = _Adapter(pool_connections=32, pool_maxsize=connections_per_host)
        self._max_body, self._mask = max_body_bytes, mask
        self._routes: dict[Origin, Mapping[str, Any]] = {}
        for name in _LOGGERS if mask else ():
            logging.getLogger(name).addFilter(self._loggable)

    def close(self) -> None:
        """Close idle connections. A later request opens new ones."""
        self._adapter.close()
        for name in _LOGGERS:
            logging.getLogger(name).removeFilter(self._loggable)

    def send(self, request: HttpRequest, origin: Origin, *, deadline: float) -> Answer | Lost:
        """Send `request`, whose credentials are meant for `origin`, and read the answer, both until `deadline`."""
        _exchange.deadline, _exchange.sent = deadline, False
        try:
            prepared = requests.PreparedRequest()
            # Text of a header travels as UTF-8; given as `str` it would have to be Latin-1.
            headers = {k: v if v.isascii() else v.encode() for k, v in request.headers.items()}
            prepared.prepare(method=request.method, url=request.url, headers=headers, data=request.body)
            if split_url(str(prepared.url))[0] != origin:
                return Lost(problem=f"the address of {origin.netloc} is ambiguous", sent=False)
            route = self._route(origin)
            # SOCKS has connections of its own, which note nothing: assume the worst there.
            _exchange.sent = any(str(proxy).startswith("socks") for proxy in route["proxies"].values())
            left = _exchange.remaining()
            with self._adapter.send(prepared, stream=True, timeout=(left, left), **route) as response:
                return self._read(response)
        except _FAILURES as error:
            return _lost(error, origin, late=time.monotonic() >= deadline)

    def _route(self, origin: Origin) -> Mapping[str, Any]:
        """Proxies and trusted certificates as the environment has them. Cached: to look is as slow as a call."""
        if origin not in self._routes:
            with requests.Session() as session:
                found = session.merge_environment_settings(f"{origin.scheme}://{origin.netloc}/", {}, True, None, None)
            self._routes[origin] = {key: found[key] for key in ("proxies", "verify", "cert")}
        return self._routes[origin]

    def _read(self, response: requests.Response) -> Answer | Lost:
        status = response.status_code
        headers = {name.lower(): value for name, value in response.headers.items()}
        if not 200 <= status < 300:
            try:
                body = b"".join(_pieces(response, headers, limit=MAX_ERROR_BYTES))
            except _FAILURES:
                body = b""  # the status says what matters
            return Answer(status=status, headers=headers, body=body[:MAX_ERROR_BYTES])
        encoding = headers.get("content-encoding", "").strip().lower()
        if encoding not in _ENCODINGS:
            return Lost(problem=f"the body is compressed with {encoding[:20]!r}, not gzip", sent=True, status=status)
        length = headers.get("content-length", "")
        # The answer to a HEAD has a length and no body.
        declared = int(length[:20]) if length.isdecimal() and response.request.method != "HEAD" else 0
        body = b"" if declared > self._max_body else b"".join(_pieces(response, headers, limit=self._max_body))
        if max(declared, len(body)) > self._max_body:
            problem = f"the body is over the limit of {self._max_body:,} bytes; ask for less, such as a smaller page"
            return Lost(problem=problem, sent=True, status=status)
        return Answer(status=status, headers=headers, body=body)

    def _loggable(self, record: logging.LogRecord) -> bool:
        """urllib3 logs URLs, and a credential may stand in one."""
        return not self._mask.finds(record.getMessage())


def _pieces(response: requests.Response, headers: Mapping[str, str], *, limit: int) -> Iterator[bytes]:
    """The body decompressed, at most one piece beyond `limit` bytes; no piece is larger than `limit` + 1."""
    compressed = headers.get("content-encoding", "").strip().lower() not in ("", "identity")
    size = 0
    inflate = None
    while size <= limit and (chunk := response.raw.read(min(_CHUNK, limit + 1), decode_content=False)):
        if not compressed:
            size += len(chunk)
            yield chunk
        while compressed and chunk and size <= limit:
            # A new one for each member that a gzip file is made of.
            inflate = zlib.decompressobj(47) if inflate is None or inflate.eof else inflate
            # Bounded here, and not left to the HTTP library: 64 KiB can unfold to 64 MiB.
            piece = inflate.decompress(chunk, limit + 1 - size)
            size += len(piece)
            yield piece
            chunk = inflate.unused_data if inflate.eof else inflate.unconsumed_tail
    if inflate is not None and not inflate.eof and size <= limit:
        raise zlib.error("the compressed body is incomplete")


def _lost(error: Exception, origin: Origin, *, late: bool) -> Lost:
    # requests refuses what cannot be sent at all (a malformed URL or header, a proxy it has no code for) as ValueError.
    sent = _exchange.sent and not (isinstance(error, ValueError) and isinstance(error, requests.RequestException))
    timed_out = (TimeoutError, requests.Timeout, urllib3.exceptions.TimeoutError)
    if late or isinstance(error, timed_out):
        what = "no complete answer from" if sent else "no connection to"
        return Lost(problem=f"{what} {origin.netloc} in time", sent=sent, passing=not sent)
    reason = _reason(error)
    if sent:
        return Lost(problem=f"the connection to {origin.netloc} broke: {reason}", sent=True, passing=True)
    if isinstance(error, requests.exceptions.SSLError):
        return Lost(problem=f"no secure connection to {origin.netloc}: {reason}", sent=False)
    if isinstance(error, requests.ConnectionError):
        problem = f"cannot connect to {origin.netloc} ({reason}); is the service running, and its address right?"
        return Lost(problem=problem, sent=False, passing=True)
    return Lost(problem=f"the request to {origin.netloc} cannot be made: {reason}", sent=False)


def _reason(error: BaseException) -> str:
    """The innermost cause in a few words: the outer ones repeat it with the URL, and a URL may hold a secret."""
    for _ in range(8):
        inner = getattr(error, "reason", None)
        if not isinstance(inner, BaseException):
            nested = (arg for arg in error.args if isinstance(arg, BaseException))
            inner = next(nested, None) or error.__cause__ or error.__context__
        if inner is None:
            break
        error = inner
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__)[:200]
