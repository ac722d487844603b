"""Servers on loopback for tests: one that answers HTTP and remembers what it saw, one that speaks bytes as told."""

import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from protocols.client import Invoker, InvokeSettings
from protocols.errors import ToolError
from protocols.protocol import Annotations, HttpBinding, ToolProtocol


@dataclass
class Seen:
    """A request as it came over the wire."""

    method: str
    target: str
    headers: dict[str, str]  # by lower-case name
    body: bytes
    client: tuple[str, int]

    @property
    def path(self):
        return self.target.partition("?")[0]

    @property
    def query(self):
        return parse_qsl(urlsplit(self.target).query, keep_blank_values=True)

    @property
    def everything(self):
        return f"{self.method} {self.target} {self.headers} {self.body!r}"


@dataclass
class Reply:
    status: int = 200
    body: Any = None  # bytes as they are, an iterator as a stream of bytes, anything else as JSON
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def content(self):
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


class Server:
    def __init__(self, address):
        self.netloc = f"{address[0]}:{address[1]}"
        self.url = f"http://{self.netloc}"
        self.seen: list[Seen] = []
        self.stop = threading.Event()

    @property
    def last(self):
        return self.seen[-1]


@contextmanager
def serving(
    answer: Callable[[Seen], Reply] = lambda _: Reply(body={"ok": True}),
) -> Iterator[Server]:
    """An HTTP/1.1 server that answers each request with `answer(request)`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def handle_one(self):
            size = int(self.headers.get("Content-Length") or 0)
            headers = {name.lower(): value for name, value in self.headers.items()}
            seen = Seen(
                self.command, self.path, headers, self.rfile.read(size), self.client_address
            )
            server.seen.append(seen)
            reply = answer(seen)
            self.send_response(reply.status)
            if isinstance(reply.body, Iterator):
                self.close_connection = True
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                with suppress(OSError):  # the client goes away
                    for piece in reply.body:
                        self.wfile.write(piece)
                return
            given = {
                "Content-Type": "application/json",
                "Content-Length": str(len(reply.content)),
            } | dict(reply.headers)
            for name, value in given.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(reply.content)

        do_GET = do_HEAD = do_OPTIONS = do_POST = do_PUT = do_PATCH = do_DELETE = handle_one  # noqa: N815

        def log_message(self, *_):
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = Server(httpd.server_address)
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.stop.set()
        httpd.shutdown()
        thread.join()
        httpd.server_close()


@contextmanager
def speaking(script: Callable[[socket.socket, Server], None]) -> Iterator[Server]:
    """A server that runs `script` on each connection, once a request has begun to arrive."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = Server(listener.getsockname())
    threads = []

    def talk(connection):
        with connection:
            if data := connection.recv(65536):
                server.seen.append(Seen("", data.decode("latin-1"), {}, data, ("", 0)))
                with suppress(OSError):  # the client goes away, as some tests want
                    script(connection, server)

    def accept():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threads.append(threading.Thread(target=talk, args=(connection,)))
            threads[-1].start()

    acceptor = threading.Thread(target=accept)
    acceptor.start()
    try:
        yield server
    finally:
        server.stop.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for thread in [acceptor, *threads]:
            thread.join()


def closed_port(port: int = 0) -> int:
    """A port, or this one, on which nobody listens, nor will while this process lives: it stays bound."""
    held = socket.socket()
    held.setsockopt(
        socket.SOL_SOCKET, socket.SO_REUSEADDR, 1
    )  # of a server that was, connections linger
    held.bind(("127.0.0.1", port))
    port = held.getsockname()[1]
    held.detach()
    return port


def http_tool(
    url: str,
    method: str = "GET",
    *,
    output=None,
    read_only=None,
    properties=None,
    name="lookup",
    **binding,
) -> ToolProtocol:
    """A protocol with an HTTP binding; every argument named in `locations` is declared."""
    names = [*binding.get("locations", {}), *filter(None, [binding.get("body_argument")])]
    return ToolProtocol(
        name=name,
        input_schema={
            "type": "object",
            "properties": properties or {argument: {} for argument in names},
        },
        output_schema=output,
        annotations=Annotations(read_only=read_only),
        binding=HttpBinding(method=method, url=url, **binding),
    )


def failure(invoker, url, method="GET", **options):
    """The error of a call that must fail."""
    with pytest.raises(ToolError) as caught:
        invoker.bind(http_tool(url, method, **options))({})
    assert len(caught.value.body) <= 500
    return caught.value


def quick(**settings):
    """An invoker that waits for nothing, and the waits that it wanted."""
    waits = []
    return Invoker(
        InvokeSettings(sleep=waits.append, **{"timeout_seconds": 60.0, **settings})
    ), waits
