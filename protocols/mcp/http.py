"""HTTP transports for one MCP server: streamable HTTP through the SDK, or the older HTTP+SSE.

They also carry the requests of a sign-in. Each host name is resolved once, and later requests go
to the same address. Each response has a deadline and a size limit after decompression. The SDK
follows no redirect to another origin.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, suppress
from typing import Any

import anyio
import anyio.to_thread
import httpx2
from mcp.client.streamable_http import MCP_SESSION_ID, streamable_http_client
from requests.utils import select_proxy

from protocols.call_limits import CallLimits
from protocols.http.decoding import ACCEPTED
from protocols.http.lookup import NameResolver, UnreachableAddress
from protocols.http.oauth import Keyring
from protocols.http.redirect_page import RedirectPage
from protocols.http.transport import route_to
from protocols.mcp.bodies import DecompressedStream, LimitedStream
from protocols.mcp.endings import SESSION_ENDED, status_ends_session
from protocols.mcp.log import ServerLogTail
from protocols.mcp.sign_in import BrowserSignIn
from protocols.mcp.sse import over_sse
from protocols.response import parse_json
from protocols.schema import as_mapping
from protocols.settings import McpServer
from protocols.urls import Origin, split_url

_CLOSE_SECONDS = 3.0  # time-out of the request that ends a session
_MOST_LINES = 20_000
"""Maximum number of lines in one event stream. A server could send messages without end."""
_MOST_STREAMS = 20
_WITHIN_SECONDS = 60.0
"""At most `_MOST_STREAMS` event streams are opened within this time.

When a stream ends, the SDK opens it again as soon as the server allows this.
"""
DENIED = -32_093
"""Code of the JSON-RPC error that stands for a response with status 401 or 403.

Its `data` is the status. The SDK itself would hide the status.
"""
_DECODED = ("content-encoding", "content-length", "transfer-encoding")


@asynccontextmanager
async def over_http(
    server: McpServer,
    headers: Mapping[str, str],
    keyring: Keyring,
    log: ServerLogTail,
    limits: CallLimits,
    *,
    older: bool = False,
) -> AsyncIterator[Any]:
    """Connect to a server and yield the streams with its messages, as the SDK's transport does.

    Each request carries `headers`. `log` receives the problem with the last response. `limits` are
    those of the calls of the server. If `older` is True, the HTTP+SSE transport of 2024 is used,
    see `protocols.mcp.sse`.

    Raises:
        NoEventStream: `older` is True, and the server does not speak that transport.
    """
    url = server.url
    settings = keyring.settings
    root = split_url(url)[0].host
    names = NameResolver(keyring.homes | {root} if settings.near_hosts else None, root=root)
    seconds = max(settings.start_seconds, limits.call_seconds)
    exchanges = LimitedTransport(
        names,
        max_bytes=limits.max_response_bytes,
        seconds=seconds,
        log=log,
        signs_in=not server.credential,
        older=older,
    )
    with ExitStack() as stack:
        auth = None
        if not server.credential and (
            settings.open_browser is not None or keyring.tokens.get(f"mcp {url}")
        ):
            redirect = stack.enter_context(RedirectPage())
            auth = BrowserSignIn(url, keyring, redirect, exchanges.require).client()
        sent = {"Accept-Encoding": ACCEPTED, **headers}
        client = httpx2.AsyncClient(headers=sent, timeout=None, transport=exchanges, auth=auth)
        limit = limits.max_response_bytes
        transport: Any = (
            over_sse(url, client, most_bytes=limit)
            if older
            else streamable_http_client(url, http_client=client, max_sse_event_size=limit)
        )
        async with client, transport as streams:
            yield streams


class LimitedTransport(httpx2.AsyncBaseTransport):
    """An `httpx2` transport that connects only to allowed IP addresses and limits responses."""

    def __init__(
        self,
        names: NameResolver,
        *,
        max_bytes: int,
        seconds: float,
        log: ServerLogTail,
        signs_in: bool = True,
        older: bool = False,
    ) -> None:
        """Create a transport that allows `seconds` and `max_bytes` for each response.

        Event streams that do not belong to a call have only the size limit. If `signs_in` is False,
        a status 401 or 403 becomes an error of the call, and starts no sign-in. If `older` is True,
        one event stream has all answers, so that only each event is limited, and every message
        belongs to a session.
        """
        self._signs_in = signs_in
        self._older = older
        self._names = names
        self._limit = max_bytes
        self._seconds = seconds
        self._log = log
        self._context = httpx2.create_ssl_context()
        self._direct: dict[Origin, httpx2.AsyncHTTPTransport] = {}
        self._pinned: dict[Origin, str] = {}
        self._proxied: dict[str, httpx2.AsyncHTTPTransport] = {}
        self._routes: dict[Origin, str | None] = {}
        self._streams: deque[float] = deque(maxlen=_MOST_STREAMS)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request and return its response.

        If no response begins in time, return status 504: an exception would end the whole
        connection.

        Raises:
            httpx2.ConnectError: the host may not or cannot be reached.
        """
        pushed = request.method == "GET" and "text/event-stream" in request.headers.get(
            "accept", ""
        )
        if pushed and self._has_too_many_streams():
            return httpx2.Response(429, request=request)
        seconds = _CLOSE_SECONDS if request.method == "DELETE" else self._seconds
        deadline = anyio.current_time() + seconds
        try:
            with anyio.fail_after(seconds):
                answer = await self._send(request)
        except TimeoutError:
            self._note(f"nothing within {seconds:g} s")
            return httpx2.Response(504, request=request)
        self._note(f"HTTP {answer.status_code}" if answer.is_error else "")
        is_message = request.method == "POST"
        if is_message:
            self._log.status = answer.status_code
        if answer.status_code in (401, 403) and not self._signs_in and is_message:
            await answer.aclose()
            return _error_response(answer.status_code, request, DENIED)
        response = self._limited(answer, request, deadline=math.inf if pushed else deadline)
        if is_message and response.is_client_error and self._has_session(request):
            return await _heed_end(response, request)
        return response

    def _limited(
        self, answer: httpx2.Response, request: httpx2.Request, *, deadline: float
    ) -> httpx2.Response:
        """Return a response whose body is decompressed and limited."""
        endless = self._older and deadline == math.inf
        limit = math.inf if endless else self._limit
        answer.stream = LimitedStream(answer.stream, limit)
        headers = httpx2.Headers(
            [one for one in answer.headers.multi_items() if one[0].lower() not in _DECODED]
        )
        # Drop the charset: some of Python's codecs decompress, and a server must not choose them.
        headers["content-type"] = answer.headers.get("content-type", "").partition(";")[0].strip()
        events = headers["content-type"].lower() == "text/event-stream"
        body = DecompressedStream(
            answer,
            most_bytes=limit,
            most_lines=_MOST_LINES if events and not endless else math.inf,
            deadline=deadline,
            note=self._note,
        )
        return httpx2.Response(answer.status_code, headers=headers, stream=body, request=request)

    def _has_session(self, request: httpx2.Request) -> bool:
        """Return True if a message belongs to a session, so that it may be refused with it."""
        return self._older or MCP_SESSION_ID in request.headers

    async def aclose(self) -> None:
        """Close all connections."""
        async with AsyncExitStack() as stack:
            for transport in (*self._direct.values(), *self._proxied.values()):
                stack.push_async_callback(transport.aclose)

    async def require(self, url: str) -> None:
        """Check that the server may send the user's browser to `url`.

        It may not send it to a service on this machine, for example.

        Raises:
            httpx2.ConnectError: the URL is not valid or its host may not be reached.
        """
        origin = _origin_of(url)
        if self._proxy_for(origin) is None:
            await self._addresses(origin)

    async def _send(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request through the configured proxy, or else to an allowed address."""
        origin = _origin_of(str(request.url))
        if proxy := self._proxy_for(origin):
            if proxy not in self._proxied:
                self._proxied[proxy] = httpx2.AsyncHTTPTransport(proxy=proxy, verify=self._context)
            return await self._proxied[proxy].handle_async_request(request)
        if origin not in self._direct:  # pools reuse connections by address alone
            self._direct[origin] = httpx2.AsyncHTTPTransport(verify=self._context)
        known = self._pinned.get(origin)
        if known is not None:
            try:
                return await self._direct[origin].handle_async_request(
                    _readdress(known, request, origin)
                )
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                del self._pinned[origin]  # the service may have moved
        failure: httpx2.TransportError = httpx2.ConnectError(f"{origin.netloc} has no address")
        for address in await self._addresses(origin):
            try:
                answer = await self._direct[origin].handle_async_request(
                    _readdress(address, request, origin)
                )
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                failure = error
                continue
            self._pinned[origin] = address
            return answer
        raise failure

    async def _addresses(self, origin: Origin) -> list[str]:
        """Return the IP addresses of a host to which connections are allowed."""

        def look_up() -> list[str]:
            return self._names.addresses(origin.host, origin.port, seconds=self._seconds)

        try:
            return await anyio.to_thread.run_sync(look_up, abandon_on_cancel=True)
        except UnreachableAddress as error:
            raise httpx2.ConnectError(f"{error}, where the server is not") from None
        except OSError as error:
            raise httpx2.ConnectError(f"{origin.netloc}: {error.strerror or error}") from None

    def _proxy_for(self, origin: Origin) -> str | None:
        """Return the proxy for an origin, or None. A proxy resolves host names itself."""
        if origin not in self._routes:
            found = select_proxy(f"{origin.url}/", dict(route_to(origin)["proxies"]))
            self._routes[origin] = found if found is None or "://" in found else f"http://{found}"
        if self._routes[origin] is not None:
            try:
                self._names.refuse_near_host(origin.host)
            except UnreachableAddress as error:
                raise httpx2.ConnectError(f"{error}, where the server is not") from None
        return self._routes[origin]

    def _has_too_many_streams(self) -> bool:
        """Count a new event stream. Return True if too many of them were opened recently."""
        now = time.monotonic()
        if len(self._streams) == _MOST_STREAMS and now - self._streams[0] < _WITHIN_SECONDS:
            return True
        self._streams.append(now)
        return False

    def _note(self, problem: str) -> None:
        """Log what was wrong with the last response.

        The SDK only reports that there was an error.
        """
        self._log.replace(problem)


def _error_response(status: int, request: httpx2.Request, code: int) -> httpx2.Response:
    """Return a response with a JSON-RPC error whose `data` is the status."""
    error = {"code": code, "message": f"HTTP {status}", "data": status}
    message = {"jsonrpc": "2.0", "id": None, "error": error}
    return httpx2.Response(status, json=message, request=request)


async def _heed_end(response: httpx2.Response, request: httpx2.Request) -> httpx2.Response:
    """Return an error response to a message of a session, or `SESSION_ENDED` if it says that."""
    try:
        text = (await response.aread()).decode("utf-8", "replace")
    except httpx2.StreamError:
        text = ""
    code = None
    with suppress(ValueError):
        code = as_mapping(as_mapping(parse_json(text)).get("error")).get("code")
    if status_ends_session(response.status_code, text, code):
        return _error_response(response.status_code, request, SESSION_ENDED)
    return response


def _origin_of(url: str) -> Origin:
    """Return the origin of a URL. Raises `httpx2.ConnectError` if it is not valid."""
    try:
        return split_url(url)[0]
    except ValueError as error:
        raise httpx2.ConnectError(str(error)) from None


def _readdress(address: str, request: httpx2.Request, origin: Origin) -> httpx2.Request:
    """Return a copy of a request that is sent to the IP address `address`.

    The `Host` header and the name that the certificate must have stay the same.
    """
    named = {} if address == origin.host.strip("[]") else {"sni_hostname": origin.host}
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, **named},
    )
