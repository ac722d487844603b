"""Sends HTTP requests through `requests`, with a deadline and a limit on the size of the body."""

from __future__ import annotations

import http.client
import logging
import ssl
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final, TypeAlias

import requests
import urllib3

from protocols.call_limits import CallLimits
from protocols.http.connections import DeadlineAdapter, Exchange, running
from protocols.http.decoding import UndecodableBody, decompressor_for
from protocols.http.lookup import NameResolver, UnreachableAddress
from protocols.http.received_files import FileReceiver
from protocols.http.request import HttpRequest
from protocols.http.tls_files import TlsFiles
from protocols.response import Answer
from protocols.urls import Origin, is_loopback, split_url

MAX_ERROR_BYTES: Final = 65_536
LATE: Final = " in time"
"""The end of `Answer.trouble` if the time of a request was over."""
_CHUNK = 65_536  # bytes
_PASSING = (429, 500, 502, 503, 504)
Take: TypeAlias = Callable[[Answer, Iterator[bytes]], Answer]
"""Callback that gets the response head and an iterator over the body.

It returns the final `Answer`.
"""
_FAILURES = (OSError, ValueError, http.client.HTTPException, urllib3.exceptions.HTTPError)
# These loggers write URLs, which may contain a credential, and warnings about server mistakes.
for _name in ("urllib3.connection", "urllib3.connectionpool", "urllib3.response"):
    logging.getLogger(_name).addFilter(lambda record: record.levelno >= logging.ERROR)


class _IncompleteBody(Exception):
    """A response body ended early or could not be decoded. `reason` is the underlying error."""

    def __init__(self, reason: Exception) -> None:
        super().__init__(str(reason))
        self.reason = reason


class Transport:
    """Sends HTTP requests over pooled connections. Thread-safe. Proxies come from the environment.

    It follows no redirects, keeps no cookies and reads no netrc file. A `requests.Session` would do
    all of that, so requests are sent by an adapter of `requests` without a session.
    """

    def __init__(
        self,
        *,
        max_body_bytes: int,
        homes: set[str] | None,
        root: str = "",
        ssl_context: ssl.SSLContext | None = None,
        tls_files: Callable[[Origin], TlsFiles] | None = None,
    ) -> None:
        """Create a transport that reads bodies of at most `max_body_bytes`.

        `homes` are the hosts that may be on this machine or its networks, and `root` is the host
        that the user named; see `NameResolver`. `ssl_context` replaces the certificates that
        `requests` trusts. `tls_files` returns the user's own certificates for an origin.
        """
        self._tls_files = tls_files
        self.near: set[str] = set()
        """Hosts that turned out to be on this machine or its networks."""
        self._names = NameResolver(homes, root=root)
        self._adapter = DeadlineAdapter(ssl_context)
        self._max_body = max_body_bytes
        self._routes: dict[Origin, Mapping[str, Any]] = {}

    def close(self) -> None:
        """Close idle connections. A later request opens new ones."""
        self._adapter.close()

    def send(
        self,
        request: HttpRequest,
        origin: Origin,
        *,
        deadline: float,
        limits: CallLimits | None = None,
        files: FileReceiver | None = None,
    ) -> Answer:
        """Send `request` and read the whole response before `deadline` (`time.monotonic`).

        The credentials in `request` are meant for `origin` only. `limits` have the maximum size of
        the body; if they are None, it is that of the transport. A larger body becomes a file if
        `files` is given, and otherwise fails the call.
        """
        take = partial(self._read_whole_body, limits=limits, files=files)
        return self.receive(request, origin, deadline=deadline, take=take)

    def receive(
        self,
        request: HttpRequest,
        origin: Origin,
        *,
        deadline: float,
        take: Take,
        stall_seconds: float | None = None,
    ) -> Answer:
        """Send `request`, call `take` with the response head and the body, and return its result.

        `take` gets the body as an iterator of pieces. Everything must finish before `deadline`, a
        time of `time.monotonic`. If `stall_seconds` is set, each piece of 64 KiB must also arrive
        within that time.
        """
        if self._tls_files and (problem := self._tls_files(origin).problem):
            return Answer(trouble=problem, sent=False, unreachable=True)
        running.exchange = exchange = Exchange(origin, deadline, self._names, self.near)
        prepared = requests.PreparedRequest()
        try:
            # Encode header values as UTF-8: `http.client` encodes `str` values as Latin-1.
            headers = {k: v if v.isascii() else v.encode() for k, v in request.headers.items()}
            prepared.prepare(
                method=request.method, url=request.url, headers=headers, data=request.body
            )
            if split_url(str(prepared.url))[0] != origin:
                return Answer(trouble=f"the address of {origin.netloc} is ambiguous", sent=False)
            exchange.allow(stall_seconds)
            left = exchange.remaining()
            route = self._route(origin)
            # SOCKS connections do not record when sending starts, so assume that it did.
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
                if isinstance(broken.reason, UndecodableBody):  # a retry cannot help
                    return Answer(
                        status=head.status, trouble=f"the body from {origin.netloc} {broken.reason}"
                    )
                return _failed_answer(broken.reason, origin, sent=True)

    def _route(self, origin: Origin) -> Mapping[str, Any]:
        """Return the proxies and trusted certificates for an origin.

        Cached, because reading the environment takes as long as a call.
        """
        if origin not in self._routes:
            route = dict(route_to(origin))
            files = self._tls_files(origin) if self._tls_files else TlsFiles()
            route["verify"] = files.ca or route["verify"]
            if files.certificate:
                route["cert"] = (files.certificate, files.key)
            self._routes[origin] = route
        return self._routes[origin]

    def _read_whole_body(
        self,
        head: Answer,
        pieces: Iterator[bytes],
        *,
        limits: CallLimits | None,
        files: FileReceiver | None,
    ) -> Answer:
        """Return the response with its body, which is read from `pieces`.

        The body of an error response may be incomplete.
        """
        succeeded = 200 <= (head.status or 0) < 300
        most = limits.max_response_bytes if limits is not None else self._max_body
        limit = most if succeeded else MAX_ERROR_BYTES
        if succeeded and files is not None and files.wants(head):
            return files.receive(head, b"", pieces)
        # For an error response the status is enough.
        body = _read_up_to(pieces, limit, may_be_incomplete=not succeeded)
        if succeeded and len(body) > limit:
            if files is not None:
                return files.receive(head, body, pieces)
            advice = limits.size_advice if limits is not None else "ask for less"
            return Answer(
                status=head.status,
                trouble=f"the body is over the limit of {limit:,} bytes; {advice}",
            )
        return Answer(
            status=head.status, headers=head.headers, body=body[:limit], passing=head.passing
        )


def _read_up_to(pieces: Iterator[bytes], limit: int, *, may_be_incomplete: bool) -> bytes:
    """Return the bytes of a body up to the first piece that is over the limit.

    Raises:
        _IncompleteBody: the body is incomplete, although it must not be.
    """
    body = bytearray()
    try:
        for piece in pieces:
            body += piece
            if len(body) > limit:
                break
    except _IncompleteBody:
        if not may_be_incomplete:
            raise
    return bytes(body)


def route_to(origin: Origin) -> Mapping[str, Any]:
    """Return the arguments `proxies`, `verify` and `cert` with which `requests` sends to an origin.

    They come from the environment variables of this process. There is no proxy for this machine: it
    would send the request to the loopback address of another one.
    """
    with requests.Session() as session:
        found = session.merge_environment_settings(f"{origin.url}/", {}, True, None, None)
    proxies = {} if is_loopback(origin.host) else found["proxies"]
    return {"proxies": proxies, "verify": found["verify"], "cert": found["cert"]}


def _iter_pieces(
    response: requests.Response, exchange: Exchange, stall_seconds: float | None
) -> Iterator[bytes]:
    """Yield the decompressed body of a response in pieces of at most 64 KiB.

    Raises:
        _IncompleteBody: the body ended early or cannot be decoded.
    """
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
    """Return an `Answer` that explains why a request got no usable response.

    `sent` is True if any part of the request may have been sent.
    """
    if isinstance(error, UnreachableAddress):
        advice = (
            f"where the tool's source is not; if its service runs there, give 'SOURCE@{origin.url}'"
        )
        if error.forbidden:
            advice = "which these tools may not call: near_hosts is off"
        return Answer(trouble=f"{error}, {advice}", sent=False, unreachable=True)
    # `requests` raises a ValueError for what it cannot send at all: a malformed URL or header,
    # or an unsupported proxy.
    sent = sent and not (
        isinstance(error, ValueError) and isinstance(error, requests.RequestException)
    )
    if isinstance(error, TimeoutError | requests.Timeout | urllib3.exceptions.TimeoutError):
        what = "no complete answer from" if sent else "no connection to"
        trouble = f"{what} {origin.netloc}{LATE}"
        return Answer(trouble=trouble, sent=sent, passing=not sent, unreachable=not sent)
    reason = _innermost_cause(error)
    if sent:
        return Answer(trouble=f"the connection to {origin.netloc} broke: {reason}", passing=True)
    return Answer(
        trouble=(
            f"cannot connect to {origin.netloc} ({reason});"
            " check that the service runs, and its address"
        ),
        sent=False,
        passing=True,
        unreachable=not isinstance(error, ValueError),
    )


def _innermost_cause(error: BaseException, *, deepest: int = 8) -> str:
    """Return a short description of the innermost cause of `error`.

    The outer errors repeat the cause together with the URL, which may contain a secret.
    """
    causes = (getattr(error, "reason", None), *error.args, error.__cause__, error.__context__)
    inner = next((cause for cause in causes if isinstance(cause, BaseException)), None)
    if inner is not None and deepest:
        return _innermost_cause(inner, deepest=deepest - 1)
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__)[:200]
