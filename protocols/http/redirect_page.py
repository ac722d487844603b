"""The page on this machine to which the browser returns after a sign-in."""

from __future__ import annotations

import secrets
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qsl, urlsplit

from protocols.errors import CredentialMissing
from protocols.response import one_line

SIGN_IN_SECONDS = 300.0
REDIRECT_PORT = 38457
"""Port of the redirect URI, fixed for users who must register it.

Another port is used if it is taken.
"""


class _RedirectHandler(BaseHTTPRequestHandler):
    """Handles the request with which the browser returns from the sign-in page."""

    server: RedirectPage
    timeout = 1  # browsers open connections on which they send nothing

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == "/callback":
            self.server.answer = dict(parse_qsl(parts.query))
        done = "code" in self.server.answer
        self.send_response(200 if done else 400)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        message = (
            "Signed in. This page can be closed."
            if done
            else "Not signed in. The program says why."
        )
        self.wfile.write(f"<p>{message}</p>".encode())

    def log_message(self, *_: object) -> None:
        return


class RedirectPage(HTTPServer):
    """HTTP server on the loopback interface that receives the redirect of one sign-in."""

    def __init__(self) -> None:
        self.answer: dict[str, str] = {}
        try:
            super().__init__(("127.0.0.1", REDIRECT_PORT), _RedirectHandler)
        except OSError:  # another sign-in uses the port
            super().__init__(("127.0.0.1", 0), _RedirectHandler)
        self.url = f"http://127.0.0.1:{self.server_port}/callback"

    def wait(self, state: str | None) -> dict[str, str]:
        """Wait for the redirect and return the parameters in its query, such as `code`.

        Raises:
            CredentialMissing: no redirect came within `SIGN_IN_SECONDS`, the sign-in was refused,
                or the redirect has another `state`. If `state` is None, it is not compared.
        """
        deadline = time.monotonic() + SIGN_IN_SECONDS
        try:
            while not self.answer and (left := deadline - time.monotonic()) > 0:
                self.timeout = left
                self.handle_request()
        finally:
            self.server_close()
        if "code" not in self.answer:
            problem = (
                self.answer.get("error_description")
                or self.answer.get("error")
                or "no answer came in time"
            )
            problem = one_line(problem, limit=200)
            raise CredentialMissing(
                f"the sign-in did not succeed: {problem}; run the command again to repeat it."
            )
        if state is not None and not secrets.compare_digest(self.answer.get("state", ""), state):
            raise CredentialMissing(
                "the sign-in came back with another sign-in's state; run the command again."
            )
        return self.answer
