"""One MCP server, connected by the SDK's client: on a thread of its own, so that any thread can call it and wait.

Imported only where a server is connected, since the SDK is heavy and optional.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import AsyncExitStack, asynccontextmanager, closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx2
from anyio.from_thread import BlockingPortal
from mcp import MCPError
from mcp.client import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from mcp_types import (
    CONNECTION_CLOSED,
    REQUEST_TIMEOUT,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    PaginatedRequestParams,
)
from pydantic import BaseModel, ValidationError

from protocols.errors import CredentialMissing
from protocols.jsontypes import JsonObject
from protocols.mcp.answers import AnswerLost, AnswerRefused, CallResult, ConnectionFailed
from protocols.oauth import SIGN_IN_SECONDS, Redirect, SignInPage
from protocols.origin import may_reach, split_url
from protocols.reply import one_line
from protocols.settings import McpServer

INHERITED = ("PATH", "HOME", "LANG", "TMPDIR")
"""All that a server's command gets of our environment."""
_LAUNCHER = Path(__file__).with_name("launcher.py")
_TOLD = 4_000  # bytes kept of what a server says on stderr
_MOST_PAGES = 100  # of a list of tools; a server may never come to an end


class Connection:
    """A connected server. Safe for threads. Closing it ends the server that it has started."""

    def __init__(
        self,
        server: McpServer,
        *,
        headers: Mapping[str, str],
        max_bytes: int,
        sign_in: SignInPage | None,
        homes: set[str],
        start_seconds: float,
    ) -> None:
        """Connect.

        Raises:
            ConnectionFailed: it cannot be done within `start_seconds`; where one may sign in, that takes its own time.
        """
        if sign_in is not None and sign_in.open_browser is not None:
            start_seconds += SIGN_IN_SECONDS
        self._told = b""
        self._listener: threading.Thread | None = None
        self._lock = threading.Lock()
        self._portal: Future[BlockingPortal] = Future()
        self._ready: Future[Client] = Future()
        self.closed = False
        """Whether it is of no use any more: closed, or the server has gone."""
        if server.url:
            transport = _over_http(server.url, headers, max_bytes, sign_in, homes)
        else:
            transport = self._over_pipes(server, max_bytes)
        # A daemon: one that nobody has closed must not keep the process from ending.
        self._thread = threading.Thread(target=self._run, args=(transport, start_seconds), name="mcp", daemon=True)
        self._thread.start()
        try:
            self._client = self._ready.result()
        except Exception as error:
            self.close()
            late = isinstance(error, TimeoutError)
            problem = "it did not answer in time" if late else one_line(str(error)) or type(error).__name__
            raise ConnectionFailed(self._with_told(problem)) from error
        except BaseException:
            self.close()
            raise

    @property
    def name(self) -> str:
        """What the server calls itself; empty where it does not."""
        info = self._client.server_info
        return info.name if info is not None else ""

    def tools(self, *, timeout_seconds: float) -> list[dict[str, Any]]:
        """The tools that the server lists, as MCP's JSON.

        Raises:
            AnswerLost, AnswerRefused: it does not list them.
        """
        found: list[dict[str, Any]] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            asked = PaginatedRequestParams(cursor=cursor) if cursor else None
            page = self._wait(partial(self._client.session.list_tools, params=asked), timeout_seconds)
            found += map(_plain, page.tools)
            cursor = page.next_cursor
            if not cursor:
                break
        return found

    def call(self, tool: str, arguments: JsonObject, *, timeout_seconds: float) -> CallResult:
        """Call a tool and wait for what it gives. The result is not compared with the tool's schema.

        Raises:
            ConnectionFailed: the connection was closed before; nothing was sent.
            AnswerLost, AnswerRefused: no result came.
        """
        # Not `call_tool`, which refuses a result that departs from the tool's schema.
        request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=dict(arguments)))
        result = self._wait(partial(self._client.session.send_request, request, CallToolResult), timeout_seconds)
        return CallResult([_plain(block) for block in result.content], result.structured_content, bool(result.is_error))

    def close(self) -> None:
        """Close the connection, and end the server where we have started it. Twice is once."""
        with self._lock:
            self.closed = True
        with suppress(RuntimeError):  # it has ended already
            portal = self._portal.result()
            # One that is still being connected is not waited for.
            portal.call(portal.stop, not self._ready.done())
        self._thread.join()

    def _wait(self, asked: Callable[[], Awaitable[Any]], seconds: float) -> Any:
        with self._lock:
            if self.closed:
                raise ConnectionFailed("its connection is closed")
            future = self._portal.result().start_task_soon(self._answered, asked, seconds)
        try:
            return future.result()
        except CancelledError:
            raise AnswerLost(self._with_told("the connection ended")) from None
        finally:
            future.cancel()

    async def _answered(self, asked: Callable[[], Awaitable[Any]], seconds: float) -> Any:
        try:
            with anyio.fail_after(seconds):
                return await asked()
        except TimeoutError:
            raise AnswerLost(f"no answer within {seconds:g} s") from None
        except MCPError as error:
            if error.code == REQUEST_TIMEOUT:
                raise AnswerLost(f"no answer within {seconds:g} s") from None
            if error.code == CONNECTION_CLOSED:
                # With other words it is one answer over HTTP that broke off.
                self.closed = self.closed or error.message == "Connection closed"
                if self._listener is not None:  # what the server said last may still be on its way
                    await asyncio.to_thread(self._listener.join, 1.0)
                raise AnswerLost(self._with_told(error.message)) from None
            raise AnswerRefused(error.code, error.message) from None
        except ValidationError as error:
            raise AnswerLost(f"its answer is none that MCP knows ({error.error_count()} errors)") from None

    def _run(self, transport: Any, start_seconds: float) -> None:
        try:
            anyio.run(self._serve, transport, start_seconds)
        except BaseException as error:  # noqa: BLE001 - whatever ends the thread must reach who waits for it
            while isinstance(error, BaseExceptionGroup):
                error = error.exceptions[0]
            if not self._ready.done():
                self._ready.set_exception(error)
        finally:
            self.closed = True
            if not self._ready.done():
                self._ready.set_exception(EOFError("the connection ended"))

    async def _serve(self, transport: Any, start_seconds: float) -> None:
        # With no handler at all, what the SDK logs (each line that is no message) would be printed on the terminal.
        logging.getLogger("mcp").addHandler(_SILENT)
        async with BlockingPortal() as portal, AsyncExitStack() as stack:
            self._portal.set_result(portal)
            # Not anyio's own, which must end after what was begun within it.
            async with asyncio.timeout(start_seconds):
                client = await stack.enter_async_context(Client(transport, cache=None))
            self._ready.set_result(client)
            await portal.sleep_until_stopped()

    @asynccontextmanager
    async def _over_pipes(self, server: McpServer, max_bytes: int) -> AsyncIterator[Any]:
        """The SDK's transport over a command; what the command says on stderr is kept, and not shown."""
        environment = {name: os.environ[name] for name in INHERITED if name in os.environ} | dict(server.environment)
        words = ["-I", "-S", str(_LAUNCHER), str(max_bytes), ",".join(environment), *server.command]
        parameters = StdioServerParameters(
            command=sys.executable, args=words, env=environment, encoding_error_handler="replace"
        )
        reading, writing = os.pipe()
        self._listener = threading.Thread(target=self._listen, args=(reading,), name="mcp-stderr", daemon=True)
        self._listener.start()
        try:
            with os.fdopen(writing, "w") as errors:
                async with stdio_client(parameters, errlog=errors) as streams:
                    errors.close()  # the server has its own end, with which the listener comes to its end
                    yield streams
        finally:
            self._listener.join(1.0)  # a process that has left the server's group may still hold the other end

    def _listen(self, descriptor: int) -> None:
        with os.fdopen(descriptor, "rb", buffering=0) as pipe:
            while data := pipe.read(65_536):
                self._told = (self._told + data)[-_TOLD:]

    def _with_told(self, problem: str) -> str:
        """`problem`, and the last lines that the server's command said on stderr."""
        lines = self._told.decode("utf-8", "replace").strip().splitlines()[-2:]
        return f"{problem} (it said: {one_line('; '.join(lines), limit=300)})" if lines else problem


def _plain(value: BaseModel) -> dict[str, Any]:
    """A value of the SDK as MCP's JSON."""
    return value.model_dump(by_alias=True, mode="json", exclude_none=True)


_SILENT = logging.NullHandler()


# --- streamable HTTP


@asynccontextmanager
async def _over_http(
    url: str, headers: Mapping[str, str], max_bytes: int, page: SignInPage | None, homes: set[str]
) -> AsyncIterator[Any]:
    """The SDK's transport to `url`. Each request carries `headers`, and follows no redirect to another origin."""
    near = homes | {split_url(url)[0].host}

    async def guard(request: httpx2.Request) -> None:
        """The server names the addresses of its sign-in, and may not send us about in our own network."""
        host, port = request.url.host, request.url.port or 443
        for *_, address in await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM):
            if not may_reach(host, str(address[0]), near):
                raise httpx2.ConnectError(f"{host} is on this machine or its own network, where the server is not")

    async def cap(response: httpx2.Response) -> None:
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Capped(response.stream, max_bytes)

    hooks: dict[str, list[Any]] = {"request": [guard], "response": [cap]}
    # A tool may take as long as its call may: the time-out is that of the call.
    timeout = httpx2.Timeout(30.0, read=None)
    async with AsyncExitStack() as stack:
        auth = None
        if page is not None and (page.open_browser is not None or page.tokens.get(page.name)):
            kept = _Kept(page)
            auth = _provider(url, page, kept, stack.enter_context(closing(Redirect(kept.port))))
        client = await stack.enter_async_context(
            httpx2.AsyncClient(headers=dict(headers), timeout=timeout, event_hooks=hooks, auth=auth)
        )
        transport = streamable_http_client(url, http_client=client, max_sse_event_size=max_bytes)
        yield await stack.enter_async_context(transport)


class _Capped(httpx2.AsyncByteStream):
    """The bytes of a response, up to a limit."""

    def __init__(self, stream: httpx2.AsyncByteStream, limit: int) -> None:
        self._stream, self._limit, self._read = stream, limit, 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._read += len(chunk)
            if self._read > self._limit:
                raise httpx2.StreamError(f"the answer is over the limit of {self._limit:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def _provider(url: str, page: SignInPage, kept: _Kept, redirect: Redirect) -> OAuthClientProvider:
    """The SDK's own OAuth client, which acts when the server answers 401."""

    async def show(address: str) -> None:
        if page.open_browser is None:
            raise CredentialMissing("it wants a sign-in in a browser; run this command once on a terminal")
        page.open_browser(address)

    async def come_back() -> AuthorizationCodeResult:
        found = await asyncio.to_thread(redirect.wait, None)
        return AuthorizationCodeResult(code=found["code"], state=found.get("state"), iss=found.get("iss"))

    asked = OAuthClientMetadata.model_validate({"client_name": "atc", "redirect_uris": [redirect.url]})
    return OAuthClientProvider(url, asked, kept, redirect_handler=show, callback_handler=come_back)


class _Kept:
    """The SDK's storage, over the file of tokens."""

    def __init__(self, page: SignInPage) -> None:
        self._page = page

    @property
    def port(self) -> int:
        """Of the address under which we were registered; 0 where we were not."""
        uris = self._known().get("client", {}).get("redirect_uris")
        return split_url(str(uris[0]))[0].port if uris else 0

    async def get_tokens(self) -> OAuthToken | None:
        found = self._known().get("token")
        return OAuthToken.model_validate(found) if found else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._put("token", tokens)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        found = self._known().get("client")
        return OAuthClientInformationFull.model_validate(found) if found else None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._put("client", client_info)

    def _known(self) -> dict[str, Any]:
        return self._page.tokens.get(self._page.name)

    def _put(self, key: str, value: BaseModel) -> None:
        self._page.tokens.put(self._page.name, self._known() | {key: value.model_dump(mode="json", exclude_none=True)})
