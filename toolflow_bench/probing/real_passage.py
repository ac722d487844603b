"""A passage to a service of somebody else's: it passes requests on, keeps a log, and hides where the service tells.

Services that nobody wrote for a bench serve their own documents. Probing reaches them through a passage alone, which
answers 404 for those addresses without asking the service, and notes every request.
"""

from __future__ import annotations

import threading
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

_OF_ONE_HOP = frozenset({"connection", "content-length", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"})
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """One request and the status of its answer. `hidden`: the service never saw it."""

    method: str
    path: str
    status: int
    hidden: bool = False


class Passage:
    """Listens on a free port of loopback and passes on to `port`. Close it, or use it as a context manager.

    `hides` are paths that are answered 404, and so is all below those that end in `/*`.
    """

    def __init__(self, port: int, *, hides: Collection[str], seconds: float = 60.0) -> None:
        self.requests: list[Passed] = []
        self._port, self._hides, self._seconds = port, frozenset(hides), seconds
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, name="passage", daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def hides(self, path: str) -> bool:
        """Whether a request for this path is answered 404 here."""
        plain = path.rstrip("/") or "/"
        return plain in self._hides or any(
            rule.endswith("/*") and f"{plain}/".startswith(rule[:-1]) for rule in self._hides
        )

    def answer(self, method: str, target: str, headers: Any, body: bytes | None) -> tuple[int, list[Any], bytes]:
        """What the service answers, or what stands in its place."""
        path = urlsplit(target).path
        if self.hides(path):
            self.requests.append(Passed(method=method, path=path, status=404, hidden=True))
            return 404, [("Content-Type", "text/plain")], b"not found"
        connection = HTTPConnection("127.0.0.1", self._port, timeout=self._seconds)
        try:
            connection.request(method, target, body=body, headers=_passed_on(headers))
            response = connection.getresponse()
            found = response.status, [*_passed_on(response.headers).items()], response.read()
        except (OSError, HTTPException) as error:
            found = 502, [("Content-Type", "text/plain")], f"the service gave no answer: {error}".encode()
        finally:
            connection.close()
        self.requests.append(Passed(method=method, path=path, status=found[0]))
        return found

    def close(self) -> None:
        """Stop listening; requests under way are answered first."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    request_queue_size = 64


def _passed_on(headers: Any) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in _OF_ONE_HOP}


def _handler(passage: Passage) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 60

        def log_message(self, *_: object) -> None:
            pass

        def pass_on(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length) if length else None
            status, headers, answered = passage.answer(self.command, self.path, self.headers, body)
            with suppress(OSError):  # nobody waits any more
                self.send_response_only(status)
                for name, value in headers:
                    self.send_header(name, value)
                if status not in (204, 304):
                    self.send_header("Content-Length", str(len(answered)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(answered)

    for method in _METHODS:
        setattr(Handler, f"do_{method}", Handler.pass_on)
    return Handler
