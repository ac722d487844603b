"""Access control of the viewer: a code that works once is exchanged for a cookie."""

from __future__ import annotations

import hmac
import html
import secrets
import threading

from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HEADERS = {
    "content-security-policy": "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_OTHER_SITES = (b"cross-site", b"same-site")
"""Values of the header `Sec-Fetch-Site` in requests from pages of other sites."""


class Guard:
    """Middleware that accepts only requests with the cookie, for this address, from its own pages.

    Pages are below `/SECRET/`, and `/SECRET/CODE/…` leads to one of them. The first request with a
    code gets the cookie, later ones are refused. So an address in a command line, a history or a
    log is of no use afterwards. Cookies do not distinguish ports, so the cookie is bound to the
    path `/SECRET/`, a random name that no other server on this host knows. A request that changes
    something (POST) must come from a page of this address, as JSON.
    """

    def __init__(self, app: ASGIApp, *, port: int) -> None:
        self._app = app
        self._hosts = {f"127.0.0.1:{port}".encode(), f"localhost:{port}".encode()}
        self._origins = {b"http://" + host for host in self._hosts}
        self._root = f"/{secrets.token_hex(6)}/"
        self._base = f"http://127.0.0.1:{port}{self._root}"
        self._cookie = f"atc-view-{port}={secrets.token_urlsafe(32)}"
        self._lock = threading.Lock()
        self._unused: set[str] = set()
        self._used: set[str] = set()

    def new_address(self) -> str:
        """Return an address that works once; the path of a page is appended to it."""
        code = secrets.token_urlsafe(24)
        with self._lock:
            self._unused.add(code)
        return f"{self._base}{code}/"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, exchange its code, or pass it on with the path of the page.

        Every response gets the same security headers.
        """

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
                message["headers"] = [*message.get("headers", ()), *own]
            await send(message)

        answer = (
            self._refuse_foreign(scope) or self._exchange_code(scope) or self._refuse_unknown(scope)
        )
        if answer is not None:
            await answer(scope, receive, send_with_headers)
            return
        path = "/" + scope["path"].removeprefix(self._root)
        await self._app(
            {**scope, "path": path, "raw_path": path.encode()}, receive, send_with_headers
        )

    def _refuse_foreign(self, scope: Scope) -> Response | None:
        """Return a refusal if the request may come from another site, else None."""
        headers = dict(scope["headers"])
        if headers.get(b"host") not in self._hosts:
            return PlainTextResponse("This address is not known here.\n", 421)
        origin = headers.get(b"origin")
        reads = scope["method"] in ("GET", "HEAD")
        embedded = (
            headers.get(b"sec-fetch-mode") != b"navigate"
            and headers.get(b"sec-fetch-site") in _OTHER_SITES
        )
        if embedded or ((origin is not None or not reads) and origin not in self._origins):
            return PlainTextResponse("Another site's page may not ask for this.\n", 403)
        return None

    def _exchange_code(self, scope: Scope) -> Response | None:
        """Return the response to a request with a code; None if it has no known code.

        It sets the cookie and redirects to the page, or refuses a code that was used before.
        """
        code, slash, page = scope["path"].removeprefix(self._root).partition("/")
        if not slash or not scope["path"].startswith(self._root) or scope["method"] != "GET":
            return None
        with self._lock:
            fresh = code in self._unused
            used = code in self._used
            if fresh:
                self._unused.remove(code)
                self._used.add(code)
        if not fresh and not used:
            return None
        if used and not self._has_cookie(scope):
            problem = "This address was used already: each works once, in one browser."
            return PlainTextResponse(f"{problem} Start 'atc runs view' again.\n", 403)
        answer = self._redirect(scope, self._root + page)
        answer.headers["set-cookie"] = (
            f"{self._cookie}; Path={self._root}; HttpOnly; SameSite=Strict"
        )
        return answer

    def _redirect(self, scope: Scope, target: str) -> Response:
        """Return a response that leads the browser to `target`, so the code leaves its history.

        It is an HTTP redirect, unless the request came from a link on another site or in a local
        file: the browser would then count the redirected request as that site's, and send no
        cookie. In that case it is a page that loads `target` by itself.
        """
        if dict(scope["headers"]).get(b"sec-fetch-site") != b"cross-site":
            return RedirectResponse(target, 303)
        url = html.escape(target)
        return HTMLResponse(
            "<!doctype html><meta charset=utf-8><title>atc runs view</title>"
            f'<meta http-equiv="refresh" content="0;url={url}">'
            f'<a href="{url}">Go on to the page</a>\n'
        )

    def _refuse_unknown(self, scope: Scope) -> Response | None:
        """Return a refusal if the request has no cookie, or is a POST without JSON; else None."""
        if not scope["path"].startswith(self._root):
            return PlainTextResponse("Open the address that 'atc runs view' has printed.\n", 404)
        if not self._has_cookie(scope):
            problem = "Open the address that 'atc runs view' has printed"
            return PlainTextResponse(f"{problem}; it works once, in one browser.\n", 403)
        kind = dict(scope["headers"]).get(b"content-type", b"").split(b";")[0]
        if scope["method"] not in ("GET", "HEAD") and kind != b"application/json":
            return PlainTextResponse("JSON is wanted.\n", 415)
        return None

    def _has_cookie(self, scope: Scope) -> bool:
        """Return True if the request has the cookie. Comparing takes the same time in any case."""
        values = [value for name, value in scope["headers"] if name == b"cookie"]
        parts = [part.strip() for value in values for part in value.split(b";")]
        return any(hmac.compare_digest(part, self._cookie.encode()) for part in parts)
