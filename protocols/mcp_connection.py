"""One MCP server, connected by the SDK's client: its event loop has a thread, so that any other can call it and wait.

Imported only where a server is connected, since the SDK is heavy and optional.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import CancelledError
from contextlib import ExitStack, asynccontextmanager, suppress
from functools import partial
from tempfile import TemporaryFile
from typing import Any
from weakref import finalize

import anyio
import httpx2
from anyio.from_thread import start_blocking_portal
from mcp import MCPError
from mcp.client import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from mcp_types import (
    CONNECTION_CLOSED,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
)
from pydantic import BaseModel, ValidationError

from protocols.errors import CredentialMissing, Outcome, ToolError
from protocols.oauth import SIGN_IN_SECONDS, Keyring, Redirect
from protocols.origin import may_reach, split_url
from protocols.reply import one_line
from protocols.schema import JsonObject
from protocols.settings import McpServer

_STDERR = 4_000  # bytes of what a server wrote there last that are looked at
# With no handler at all, what the SDK logs (each line that is no message) would be printed on the terminal.
logging.getLogger("mcp").addHandler(logging.NullHandler())
_NOT_RUN = (METHOD_NOT_FOUND, INVALID_PARAMS)
_MOST_PAGES = 100  # of a list of tools; a server may never come to an end


class Connection:
    """A connected server. Safe for threads. Closing it ends the server that it has started."""

    def __init__(self, server: McpServer, keyring: Keyring, *, headers: Mapping[str, str]) -> None:
        """Connect. Requests to a server with a `url` carry `headers`; without `credential`, it may ask for a sign-in.

        Raises:
            ToolError: it cannot be done within `start_seconds`; where one may sign in, that takes its own time.
        """
        self.closed = False
        """Whether it is of no use any more: closed, or the server has gone."""
        self._seconds, seconds = keyring.settings.timeout_seconds, keyring.settings.start_seconds
        with ExitStack() as stack:
            # To append, since the command and we share the position in it.
            self._stderr = stack.enter_context(TemporaryFile("a+"))
            if server.url:
                transport: Any = _over_http(server, headers, keyring, self._stderr)
                seconds += SIGN_IN_SECONDS if keyring.settings.open_browser and not server.credential else 0
            else:
                command, *words = server.command
                given = StdioServerParameters(
                    command=command, args=words, env=dict(server.env), encoding_error_handler="replace"
                )
                transport = stdio_client(given, errlog=self._stderr)
            self._portal = stack.enter_context(start_blocking_portal(name="mcp"))
            try:
                connecting = self._portal.wrap_async_context_manager(_connected(transport, seconds))
                self._client = stack.enter_context(connecting)
            except Exception as error:
                cause: BaseException = error
                while isinstance(cause, BaseExceptionGroup):
                    cause = cause.exceptions[0]
                problem = one_line(str(cause)) or type(cause).__name__
                problem = "it did not answer in time" if isinstance(cause, TimeoutError) else problem
                raise ToolError(None, self._with_stderr(problem), outcome="not_run") from error
            ended = ExitStack()
            ended.enter_context(suppress(Exception))  # that of a connection which ended by itself
            ended.push(stack.pop_all())
            self._end = finalize(self, ended.close)  # at the latest before Python ends, which would wait for it

    @property
    def name(self) -> str:
        """What the server calls itself; empty where it does not."""
        return getattr(self._client.server_info, "name", "")

    def tools(self) -> list[dict[str, Any]]:
        """The tools that the server lists, as MCP's JSON. Raises `ToolError` where it does not list them."""
        found, cursor = list[dict[str, Any]](), None
        for _ in range(_MOST_PAGES):
            page = self._wait(partial(self._client.list_tools, cursor=cursor))
            found += map(_plain, page.tools)
            if not (cursor := page.next_cursor):
                break
        return found

    def call(self, tool: str, arguments: JsonObject, *, failed: Outcome) -> JsonObject:
        """MCP's result of calling a tool, as JSON. It is not compared with the tool's schema.

        Raises:
            ToolError: none came. Its `answer` is an error of the server's own, whose outcome is `failed` where it does
                not say that nothing was done.
        """
        # Not `call_tool`, which refuses a result that departs from the tool's schema.
        request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=dict(arguments)))
        return _plain(self._wait(partial(self._client.session.send_request, request, CallToolResult), failed))

    def close(self) -> None:
        """Close the connection, and end the server where we have started it. Twice is once."""
        self.closed = True
        self._end()

    def _wait(self, asked: Callable[[], Awaitable[Any]], failed: Outcome = "unknown") -> Any:
        async def answered() -> Any:
            with anyio.fail_after(self._seconds):
                return await asked()

        try:
            future = self._portal.start_task_soon(answered)
        except RuntimeError:
            raise ToolError(None, "its connection is closed", outcome="not_run") from None
        try:
            return future.result()
        except CancelledError:
            problem = "the connection ended"
        except TimeoutError:
            problem = f"no answer within {self._seconds:g} s"
        except ValidationError as error:
            problem = f"its answer is none that MCP knows ({error.error_count()} errors)"
        except MCPError as error:
            if error.code != CONNECTION_CLOSED:
                # Errors with other codes the SDK also makes up itself.
                outcome = "refused" if error.code in _NOT_RUN else failed
                raise ToolError(None, error.message, outcome=outcome, answer=error.message) from None
            # With other words it is one answer over HTTP that broke off.
            self.closed = self.closed or error.message == "Connection closed"
            problem = self._with_stderr(error.message)
        finally:
            future.cancel()
        raise ToolError(None, problem, outcome="unknown")

    def _with_stderr(self, problem: str) -> str:
        """`problem`, and the last lines that the server's command wrote to stderr."""
        file = self._stderr.fileno()
        end = os.pread(file, _STDERR, max(0, os.fstat(file).st_size - _STDERR))
        lines = end.decode("utf-8", "replace").strip().splitlines()[-2:]
        return f"{problem} (it said: {one_line('; '.join(lines), limit=300)})" if lines else problem


@asynccontextmanager
async def _connected(transport: Any, seconds: float) -> AsyncIterator[Client]:
    async with asyncio.timeout(seconds) as limit, Client(transport, cache=None) as client:
        limit.reschedule(None)
        yield client


def _plain(value: BaseModel) -> dict[str, Any]:
    """A value of the SDK as MCP's JSON."""
    return value.model_dump(by_alias=True, mode="json", exclude_none=True)


# --- streamable HTTP


@asynccontextmanager
async def _over_http(server: McpServer, headers: Mapping[str, str], keyring: Keyring, log: Any) -> AsyncIterator[Any]:
    """The SDK's transport. Each request carries `headers`, and follows no redirect to another origin."""
    url, settings = server.url, keyring.settings
    near = keyring.homes | {split_url(url)[0].host} if settings.near_hosts else None
    limit = settings.max_body_bytes

    async def guard(request: httpx2.Request) -> None:
        """The server names the addresses of its sign-in, and may not send us about in our own network."""
        host, port = request.url.host, request.url.port or 443
        for *_, address in await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM):
            if not may_reach(host, str(address[0]), near):
                raise httpx2.ConnectError(f"{host} is on this machine or its own network, where the server is not")

    async def cap(response: httpx2.Response) -> None:
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Capped(response.stream, limit)
        log.truncate(log.seek(0))  # what the last response was: the SDK only says that it was an error
        print(f"HTTP {response.status_code}" if response.is_error else "", file=log, flush=True)

    hooks: dict[str, list[Any]] = {"request": [guard], "response": [cap]}
    # A tool may take as long as its call may: the time-out is that of the call.
    timeout = httpx2.Timeout(30.0, read=None)
    with ExitStack() as stack:
        auth = None
        if not server.credential and (settings.open_browser is not None or keyring.tokens.get(f"mcp {url}")):
            auth = _SignIn(url, keyring, stack.enter_context(Redirect())).client()
        client = httpx2.AsyncClient(headers=dict(headers), timeout=timeout, event_hooks=hooks, auth=auth)
        async with client, streamable_http_client(url, http_client=client, max_sse_event_size=limit) as streams:
            yield streams


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


class _SignIn:
    """What the SDK's own OAuth client rests on, which acts when the server answers 401: a browser and our tokens."""

    def __init__(self, url: str, keyring: Keyring, redirect: Redirect) -> None:
        self._url, self._name, self._redirect = url, f"mcp {url}", redirect
        self._tokens, self._open = keyring.tokens, keyring.settings.open_browser

    def client(self) -> OAuthClientProvider:
        asked = OAuthClientMetadata.model_validate({"client_name": "atc", "redirect_uris": [self._redirect.url]})
        return OAuthClientProvider(
            self._url, asked, self, redirect_handler=self._show, callback_handler=self._come_back
        )

    async def _show(self, address: str) -> None:
        if self._open is None:
            raise CredentialMissing("it wants a sign-in in a browser; run this command once on a terminal")
        self._open(address)

    async def _come_back(self) -> AuthorizationCodeResult:
        found = await asyncio.to_thread(self._redirect.wait, None)
        return AuthorizationCodeResult(code=found["code"], state=found.get("state"), iss=found.get("iss"))

    async def get_tokens(self) -> OAuthToken | None:
        found = self._tokens.get(self._name).get("token")
        return OAuthToken.model_validate(found) if found else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._put("token", tokens)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        found = self._tokens.get(self._name).get("client")
        return OAuthClientInformationFull.model_validate(found) if found else None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._put("client", client_info)

    def _put(self, key: str, value: BaseModel) -> None:
        kept = self._tokens.get(self._name)
        self._tokens.put(self._name, kept | {key: value.model_dump(mode="json", exclude_none=True)})
