"""A connection to one MCP server through the SDK's client.

The client's event loop runs on a thread of its own, so that any thread can make a call and wait.
This module is imported only when a server is connected, because the SDK is large and optional.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import CancelledError
from contextlib import ExitStack, suppress
from functools import partial
from typing import Any
from weakref import finalize

import anyio
from anyio.from_thread import start_blocking_portal
from mcp import MCPError
from mcp_types import CONNECTION_CLOSED, INVALID_PARAMS, METHOD_NOT_FOUND

from protocols.call_limits import CallLimits
from protocols.errors import Outcome, ToolError
from protocols.http.oauth import Keyring
from protocols.http.redirect_page import SIGN_IN_SECONDS
from protocols.mcp.endings import ConnectionEnded, error_ends_session
from protocols.mcp.http import DENIED, over_http
from protocols.mcp.log import ServerLogTail
from protocols.mcp.session import Session, open_session
from protocols.mcp.sse import NoEventStream
from protocols.mcp.stdio import over_stdio
from protocols.response import one_line
from protocols.schema import Json, JsonObject, as_mapping
from protocols.settings import McpServer

# Without a handler, the SDK's log (each invalid line) would be printed on the terminal.
logging.getLogger("mcp").addHandler(logging.NullHandler())
_NOT_RUN = (METHOD_NOT_FOUND, INVALID_PARAMS)
_NOT_ABOUT_TRANSPORT = (401, 403, 407, 429)
"""Statuses from 400 to 499 after which the older transport is not tried."""
_CLOSED = "Connection closed"
"""How a message of the SDK about a connection that is gone begins."""
_INTERRUPTED = "SSE stream"
"""How a message of the SDK about one response that was interrupted begins."""


class Connection:
    """A connection to an MCP server.

    Thread-safe. Closing it ends the server if this process started the server.
    """

    def __init__(
        self,
        server: McpServer,
        keyring: Keyring,
        *,
        headers: Mapping[str, str],
        limits: CallLimits,
    ) -> None:
        """Connect to a server, whose calls have `limits`.

        Requests to a server with a `url` carry `headers`. Without a `credential`, the server may
        ask for a sign-in. A server that does not take a message at its address is tried with the
        older HTTP+SSE transport.

        Raises:
            ToolError: no connection was made within the setting `start_seconds`. A sign-in gets
                `SIGN_IN_SECONDS` in addition.
        """
        self.closed = False
        """True if the connection was closed, or a call found that it or its session has ended."""
        self.changed_tools: list[Json] | None = None
        """The server's list of tools after it said that the list has changed, else None."""
        self._seconds = limits.call_seconds
        self._start_seconds = keyring.settings.start_seconds
        self._log = ServerLogTail()
        self._is_remote = bool(server.url)
        self._calls = 0  # that wait for an answer
        self._is_retired = False
        self._lock = threading.Lock()
        seconds = self._start_seconds
        if server.url and keyring.settings.open_browser and not server.credential:
            seconds += SIGN_IN_SECONDS
        transports: list[Callable[[], Any]]
        if server.url:
            connect = partial(over_http, server, headers, keyring, self._log, limits)
            transports = [connect, partial(connect, older=True)]
        else:
            most = limits.max_response_bytes
            transports = [partial(over_stdio, server, self._log, most_bytes=most)]
        with ExitStack() as stack:
            self._portal = stack.enter_context(start_blocking_portal(name="mcp"))
            self._session = self._open(transports, stack, seconds)
            ended = ExitStack()
            ended.enter_context(suppress(Exception))  # the connection may have ended by itself
            ended.push(stack.pop_all())
            # Runs at interpreter exit at the latest, which would otherwise wait for the thread.
            self._end = finalize(self, ended.close)

    def _open(
        self, transports: list[Callable[[], Any]], stack: ExitStack, seconds: float
    ) -> Session:
        """Return a session over the first of the transports that the server speaks.

        Raises:
            ToolError: it speaks none of them.
        """
        problems: list[str] = []
        for transport in transports:
            try:
                opening = open_session(transport(), seconds, self._heed_new_list)
                return stack.enter_context(self._portal.wrap_async_context_manager(opening))
            except Exception as error:  # noqa: BLE001 - of the SDK, the transport or the system
                problems.append(self._explain(error))
                status = self._log.status or 0
            if not 400 <= status < 500 or status in _NOT_ABOUT_TRANSPORT:
                break
        problem = "; as a server of the older HTTP+SSE transport: ".join(problems)
        raise ToolError(None, problem, outcome="not_run", remedy=problem)

    def _explain(self, error: Exception) -> str:
        """Return why no session was opened, on one line."""
        cause: BaseException = error
        while isinstance(cause, BaseExceptionGroup):
            cause = cause.exceptions[0]
        if isinstance(cause, NoEventStream):
            return str(cause)
        problem = one_line(str(cause)) or type(cause).__name__
        if isinstance(cause, TimeoutError):
            problem = "it did not answer in time"
        return self._with_last_words(problem)

    @property
    def name(self) -> str:
        """The name that the server gives itself, or "" if it has none."""
        return self._session.name

    @property
    def has_resources(self) -> bool:
        """True if the server says that it has resources."""
        return self._session.has_resources

    @property
    def has_tools(self) -> bool:
        """True if the server says that it has tools."""
        return self._session.has_tools

    @property
    def has_ended(self) -> bool:
        """True if no call can be sent over this connection any more."""
        return self.closed or self._session.has_ended

    def tools(self) -> list[Json]:
        """Return the server's list of tools as MCP's JSON.

        Raises `ToolError` if the server does not send it.
        """
        found: list[Json] = self._wait(self._session.list_tools, seconds=self._start_seconds)
        return found

    def resources(self) -> tuple[list[Json], list[Json]]:
        """Return the server's resources and the templates of resources as MCP's JSON.

        Raises `ToolError` if the server does not send them.
        """

        async def ask() -> tuple[list[Json], list[Json]]:
            resources = await self._session.list_resources()
            try:
                return resources, await self._session.list_templates()
            except MCPError as error:
                if error.code != METHOD_NOT_FOUND:
                    raise
                return resources, []

        found: tuple[list[Json], list[Json]] = self._wait(ask, seconds=self._seconds)
        return found

    def call(self, tool: str, arguments: JsonObject, *, failed: Outcome) -> JsonObject:
        """Call a tool and return MCP's result as the server sent it.

        Raises:
            ConnectionEnded: the session or the connection has ended.
            ToolError: there is no result. If the server sent an error, `answer` is its text. The
                outcome is then *refused* if the error says that nothing was done, else the value of
                `failed`.
        """
        ask = partial(self._session.call_tool, tool, arguments)
        return as_mapping(self._wait(ask, seconds=self._seconds, failed=failed))

    def read_resource(self, uri: str) -> JsonObject:
        """Read a resource and return MCP's result. Raises what `call` raises."""
        ask = partial(self._session.read_resource, uri)
        return as_mapping(self._wait(ask, seconds=self._seconds, failed="refused"))

    def close(self) -> None:
        """Close the connection, and end a server that this process started. May be called twice."""
        self.closed = True
        self._end()

    def retire(self) -> None:
        """Close the connection as soon as no call waits for its answer."""
        self.closed = True
        with self._lock:
            self._is_retired = True
            is_idle = self._calls == 0
        if is_idle:
            self._end()

    def _count(self, change: int) -> None:
        """Count the calls that wait for an answer. The last one ends a retired connection."""
        with self._lock:
            self._calls += change
            is_last = self._is_retired and self._calls == 0
        if is_last:
            self._end()

    def _wait(
        self, ask: Callable[[], Awaitable[Any]], *, seconds: float, failed: Outcome = "unknown"
    ) -> Any:
        """Run a request to the server on the event loop's thread, and wait for its result.

        Raises:
            ConnectionEnded: the session or the connection has ended.
            ToolError: the request failed, or took longer than `seconds`. If the server answered
                with an error, the outcome is *refused* if the error says that nothing was done,
                else the value of `failed`.
        """

        async def answered() -> Any:
            with anyio.fail_after(seconds):
                return await ask()

        self._count(1)
        try:
            future = self._portal.start_task_soon(answered)
        except RuntimeError:
            self._count(-1)
            self.closed = True
            raise ConnectionEnded("its connection is closed", "not_run") from None
        try:
            return future.result()
        except CancelledError:
            self.closed = True
            raise ConnectionEnded(
                self._with_last_words("the connection ended"), "unknown"
            ) from None
        except TimeoutError:
            problem = f"no answer within {seconds:g} s"
            raise ToolError(None, problem, outcome="unknown") from None
        except ConnectionEnded:
            self.closed = True
            raise
        except MCPError as error:
            raise self._error_of(error, failed) from None
        finally:
            future.cancel()
            self._count(-1)

    def _error_of(self, error: MCPError, failed: Outcome) -> ToolError:
        """Return the error of a call for which the server, or the SDK, gave an error."""
        if error.code == DENIED and error.data in (401, 403):
            # The next call connects again, with the credential as it is then.
            self.closed = self.closed or error.data == 401
            return ToolError(error.data, error.message, outcome="refused")
        if self._is_remote and error_ends_session(error.code, error.message):
            self.closed = True
            problem = "the server knows the session no more"
            return ConnectionEnded(self._with_last_words(problem), "not_run")
        # Servers use the code that the SDK has chosen for this, too.
        if error.code == CONNECTION_CLOSED and error.message.startswith((_CLOSED, _INTERRUPTED)):
            self.closed = self.closed or error.message.startswith(_CLOSED)
            return ConnectionEnded(self._with_last_words(error.message), "unknown")
        # The SDK itself also creates errors with other codes.
        outcome = "refused" if error.code in _NOT_RUN else failed
        return ToolError(None, error.message, outcome=outcome, answer=error.message)

    async def _heed_new_list(self, session: Session) -> None:
        """Read the server's list of tools again, because it has changed."""
        with suppress(MCPError, ToolError):
            self.changed_tools = await session.list_tools()

    def _with_last_words(self, problem: str) -> str:
        """Return an error message with the last lines of the server's log appended."""
        lines = self._log.last_lines()
        return f"{problem} (it said: {lines})" if lines else problem
