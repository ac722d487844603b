"""Access control of the viewer: the printed address contains a code that works once.

The first browser that sends the code gets a cookie, which later requests need.
"""

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
    """ASGI middleware that accepts only requests of the browser that opened the viewer first.

    Pages have addresses below `/SECRET/`; the address `/SECRET/CODE/…` redirects to one of them.
    The first request with a code gets a cookie. Later requests with the same code are refused if
    they do not have the cookie. So an address in a shell history or a log is of no use afterwards.

    Cookies do not distinguish ports, so the cookie is bound to the path `/SECRET/`, a random name
    that other servers on this host do not know. A request that changes something (POST) must come
    from one of the viewer's pages and have a JSON body.
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
        """Return an address that works once. The caller may append the path of a page."""
        code = secrets.token_urlsafe(24)
        with self._lock:
            self._unused.add(code)
        return f"{self._base}{code}/"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, exchange its code for the cookie, or pass it on to the application.

        The application gets the path without `/SECRET`. Every response gets the security headers.
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
        """Return an error response if a page of another site may have sent the request, else None.

        A request for another host name is refused, too.
        """
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
        """Return the response to a request if its path contains a valid code, else None.

        The response sets the cookie and redirects to the page. A code that was used before is
        refused, unless the request has the cookie already.
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
        """Return a response that sends the browser to `target`, an address without the code.

        It is normally an HTTP redirect. If the request comes from a link on another site or in a
        local file, the browser would treat the redirected request as one from that site, and send
        no cookie. So the response to such a request is a page that loads `target` by itself.
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
        """Return an error response if a request has no cookie, or is a POST without JSON.

        Return None if the request is allowed. A browser that asks for an icon gets none.
        """
        if scope["path"] == "/favicon.ico":
            return Response(status_code=204)
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
        """Return True if the request has the right cookie, which is compared in constant time."""
        values = [value for name, value in scope["headers"] if name == b"cookie"]
        parts = [part.strip() for value in values for part in value.split(b";")]
        return any(hmac.compare_digest(part, self._cookie.encode()) for part in parts)
