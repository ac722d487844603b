"""A connection to one MCP server through the SDK's client.

The client's event loop runs on a thread of its own, so that any thread can make a call and wait.
This module is imported only when a server is connected, because the SDK is large and optional.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import CancelledError
from contextlib import ExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Any
from weakref import finalize

import anyio
from anyio.from_thread import start_blocking_portal
from mcp import MCPError
from mcp.client import Client
from mcp_types import (
    CONNECTION_CLOSED,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
)
from pydantic import BaseModel, ValidationError

from protocols.call_limits import CallLimits
from protocols.errors import Outcome, ToolError
from protocols.http.oauth import Keyring
from protocols.http.redirect_page import SIGN_IN_SECONDS
from protocols.mcp.http import DENIED, over_http
from protocols.mcp.log import ServerLogTail
from protocols.mcp.stdio import over_stdio
from protocols.response import one_line
from protocols.schema import JsonObject, dumps
from protocols.settings import McpServer

# Without a handler, the SDK's log (each invalid line) would be printed on the terminal.
logging.getLogger("mcp").addHandler(logging.NullHandler())
_NOT_RUN = (METHOD_NOT_FOUND, INVALID_PARAMS)
_MOST_PAGES = 100  # pages of a list of tools; a server may never end it
_MOST_CHARACTERS = 50_000_000  # size of the list as JSON


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
        ask for a sign-in.

        Raises:
            ToolError: no connection was made within the setting `start_seconds`. A sign-in gets
                `SIGN_IN_SECONDS` in addition.
        """
        self.closed = False
        """True if the connection was closed or the server has ended."""
        self._seconds = limits.call_seconds
        self._start_seconds = keyring.settings.start_seconds
        seconds = self._start_seconds
        self._log = ServerLogTail()
        with ExitStack() as stack:
            if server.url:
                transport: Any = over_http(server, headers, keyring, self._log, limits)
                seconds += (
                    SIGN_IN_SECONDS
                    if keyring.settings.open_browser and not server.credential
                    else 0
                )
            else:
                transport = over_stdio(server, self._log, most_bytes=limits.max_response_bytes)
            self._portal = stack.enter_context(start_blocking_portal(name="mcp"))
            try:
                connecting = self._portal.wrap_async_context_manager(
                    _open_client(transport, seconds)
                )
                self._client = stack.enter_context(connecting)
            except Exception as error:
                cause: BaseException = error
                while isinstance(cause, BaseExceptionGroup):
                    cause = cause.exceptions[0]
                problem = one_line(str(cause)) or type(cause).__name__
                problem = (
                    "it did not answer in time" if isinstance(cause, TimeoutError) else problem
                )
                problem = self._with_last_words(problem)
                raise ToolError(None, problem, outcome="not_run", remedy=problem) from error
            ended = ExitStack()
            ended.enter_context(suppress(Exception))  # the connection may have ended by itself
            ended.push(stack.pop_all())
            # Runs at interpreter exit at the latest, which would otherwise wait for the thread.
            self._end = finalize(self, ended.close)

    @property
    def name(self) -> str:
        """The name that the server gives itself, or "" if it has none."""
        return getattr(self._client.server_info, "name", "")

    def tools(self) -> list[dict[str, Any]]:
        """Return the server's list of tools as MCP's JSON.

        Raises `ToolError` if the server does not send it.
        """
        found: list[dict[str, Any]] = self._wait(self._list_tools, seconds=self._start_seconds)
        return found

    async def _list_tools(self) -> list[dict[str, Any]]:
        """Return the tools on all pages of the server's list of tools, as MCP's JSON."""
        found = list[dict[str, Any]]()
        cursor = None
        size = 0
        for _ in range(_MOST_PAGES):
            page = await self._client.list_tools(cursor=cursor)
            tools = [*map(_to_json, page.tools)]
            found += tools
            size += len(dumps(tools))
            if size > _MOST_CHARACTERS:
                raise ToolError(
                    None, f"its list of tools is over the limit of {_MOST_CHARACTERS:,} characters"
                )
            if not (cursor := page.next_cursor):
                return found
        raise ToolError(None, f"its list of tools does not end within {_MOST_PAGES} pages")

    def call(self, tool: str, arguments: JsonObject, *, failed: Outcome) -> JsonObject:
        """Call a tool and return MCP's result as JSON.

        The result is not validated against the tool's schema.

        Raises:
            ToolError: there is no result. If the server sent an error, `answer` is its text. The
                outcome is then *refused* if the error says that nothing was done, else the value of
                `failed`.
        """
        # Not `call_tool`: it rejects a result that violates the tool's schema.
        request = CallToolRequest(
            params=CallToolRequestParams(name=tool, arguments=dict(arguments))
        )
        asked = partial(self._client.session.send_request, request, CallToolResult)
        return _to_json(self._wait(asked, seconds=self._seconds, failed=failed))

    def close(self) -> None:
        """Close the connection, and end a server that this process started. May be called twice."""
        self.closed = True
        self._end()

    def _wait(
        self, asked: Callable[[], Awaitable[Any]], *, seconds: float, failed: Outcome = "unknown"
    ) -> Any:
        """Run a request to the server on the event loop's thread, and wait for its result.

        Raises:
            ToolError: the request failed, or took longer than `seconds`. If the server answered
                with an error, the outcome is *refused* if the error says that nothing was done,
                else the value of `failed`.
        """

        async def answered() -> Any:
            with anyio.fail_after(seconds):
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
            problem = f"no answer within {seconds:g} s"
        except ValidationError as error:
            problem = f"its answer is none that MCP knows ({error.error_count()} errors)"
        except MCPError as error:
            if error.code == DENIED and error.data in (401, 403):
                # The next call connects again, with the credential as it is then.
                self.closed = self.closed or error.data == 401
                raise ToolError(error.data, error.message, outcome="refused") from None
            if error.code != CONNECTION_CLOSED:
                # The SDK itself also creates errors with other codes.
                outcome = "refused" if error.code in _NOT_RUN else failed
                raise ToolError(
                    None, error.message, outcome=outcome, answer=error.message
                ) from None
            # Another message means that only one HTTP response was interrupted.
            self.closed = self.closed or error.message == "Connection closed"
            problem = self._with_last_words(error.message)
        finally:
            future.cancel()
        raise ToolError(None, problem, outcome="unknown")

    def _with_last_words(self, problem: str) -> str:
        """Return an error message with the last lines of the server's log appended."""
        lines = self._log.last_lines()
        return f"{problem} (it said: {lines})" if lines else problem


@asynccontextmanager
async def _open_client(transport: Any, seconds: float) -> AsyncIterator[Client]:
    """Yield a client of the SDK that is connected. `seconds` limits the time to connect."""
    async with asyncio.timeout(seconds) as limit, Client(transport, cache=None) as client:
        limit.reschedule(None)
        yield client


def _to_json(value: BaseModel) -> dict[str, Any]:
    """Return an object of the MCP SDK as MCP's JSON."""
    return value.model_dump(by_alias=True, mode="json", exclude_none=True)
