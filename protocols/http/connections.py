"""Pooled HTTP connections that check IP addresses and keep the deadline of each request."""

from __future__ import annotations

import http.client
import io
import math
import socket
import ssl
import threading
import time
from dataclasses import dataclass
from typing import Any, ClassVar

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.util.connection import create_connection

from protocols.http.lookup import NameResolver, look_up
from protocols.urls import Origin, is_near

_POOL_SIZE = 8  # connections per host: as many as one program's calls may overlap


@dataclass(slots=True)
class Exchange:
    """State of one request and its response, shared with the connection that carries them.

    `near` collects the hosts that turn out to be on this machine or its networks.
    """

    origin: Origin
    deadline: float
    names: NameResolver
    near: set[str]
    sent: bool = False
    """True if any byte of the request may have been sent."""
    pause: float = math.inf
    """Time (`time.monotonic`) by which the next piece of the body must arrive."""

    def allow(self, stall_seconds: float | None) -> None:
        """Set the time limit for the next piece of the body to `stall_seconds` from now.

        None keeps the current limit.
        """
        if stall_seconds is not None:
            self.pause = time.monotonic() + stall_seconds

    def remaining(self) -> float:
        """Return the seconds until the next time limit of the exchange.

        Raises:
            TimeoutError: the time is over.
        """
        left = min(self.deadline, self.pause) - time.monotonic()
        if left <= 0:
            raise TimeoutError("the deadline has passed")
        return left


running = threading.local()
"""Per-thread state. `exchange` is the `Exchange` of the current thread."""


class _DeadlineReader(io.RawIOBase):
    """Reads from a socket until the deadline of one request and its response.

    The deadline also holds if the server sends the response byte by byte.
    """

    def __init__(self, connected: socket.socket, received: io.RawIOBase) -> None:
        self._socket = connected
        self._received = received

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._socket.settimeout(running.exchange.remaining())
        return self._received.readinto(buffer)

    def close(self) -> None:
        self._received.close()
        super().close()


class _Response(http.client.HTTPResponse):
    """An `http.client` response of which every part must arrive before a deadline."""

    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp: Any = io.BufferedReader(_DeadlineReader(sock, self.fp.detach()))

    def _read_status(self) -> Any:
        """Return the status line of the final response. Skip all 1xx responses except 101.

        `http.client` skips only status 100.
        """
        while True:
            found: Any = super()._read_status()  # type: ignore[misc]
            if not 101 < found[1] < 200:
                return found
            http.client.parse_headers(self.fp)


class _DeadlineConnection:
    """Mixin for urllib3 connections that checks IP addresses and keeps the deadline of a request.

    It also records when the sending of the request starts.
    """

    response_class: ClassVar[Any] = _Response

    def _new_conn(self) -> socket.socket:
        connection: Any = self
        exchange = running.exchange
        host = exchange.origin.host
        direct = connection.proxy is None  # the address of a proxy is the user's own choice
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
        running.exchange.sent = False  # a proxy's CONNECT is not the request

    def send(self, data: Any) -> None:
        connection: Any = self
        if connection.sock is None:
            connection.connect()
        running.exchange.sent = True
        connection.sock.settimeout(running.exchange.remaining())
        super().send(data)  # type: ignore[misc]


class _HttpPool(HTTPConnectionPool):
    ConnectionCls = type("_HttpConnection", (_DeadlineConnection, HTTPConnection), {})


class _HttpsPool(HTTPSConnectionPool):
    ConnectionCls = type("_HttpsConnection", (_DeadlineConnection, HTTPSConnection), {})


_POOLS = {"http": _HttpPool, "https": _HttpsPool}


class DeadlineAdapter(HTTPAdapter):
    """A `requests` adapter whose connections check IP addresses and keep request deadlines."""

    def __init__(self, ssl_context: ssl.SSLContext | None) -> None:
        self._context: dict[str, Any] = {"ssl_context": ssl_context} if ssl_context else {}
        super().__init__(pool_connections=32, pool_maxsize=_POOL_SIZE)
        self.poolmanager.pool_classes_by_scheme = _POOLS

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """Create the pools of direct connections, with the certificates of `ssl_context`."""
        kwargs |= self._context
        super().init_poolmanager(*args, **kwargs)

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> Any:
        """Return the pools of connections through `proxy`, with the same checks."""
        manager = super().proxy_manager_for(proxy, **kwargs, **self._context)
        if not proxy.lower().startswith("socks"):  # SOCKS has connections of its own
            manager.pool_classes_by_scheme = _POOLS
        return manager
