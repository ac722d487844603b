"""One MCP server, connected by the SDK's client: its event loop has a thread, so that any other can call it and wait.

Imported only where a server is connected, since the SDK is heavy and optional.
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

from protocols.errors import Outcome, ToolError
from protocols.http.oauth import SIGN_IN_SECONDS, Keyring
from protocols.mcp.http import over_http
from protocols.mcp.log import ServerLogTail
from protocols.mcp.stdio import over_stdio
from protocols.response import one_line
from protocols.schema import JsonObject, dumps
from protocols.settings import McpServer

# With no handler at all, what the SDK logs (each line that is no message) would be printed on the terminal.
logging.getLogger("mcp").addHandler(logging.NullHandler())
_NOT_RUN = (METHOD_NOT_FOUND, INVALID_PARAMS)
_MOST_PAGES = 100  # of a list of tools; a server may never come to an end
_MOST_CHARACTERS = 50_000_000  # of the list, as JSON


class Connection:
    """A connected server. Safe for threads. Closing it ends the server that it has started."""

    def __init__(self, server: McpServer, keyring: Keyring, *, headers: Mapping[str, str]) -> None:
        """Connect. Requests to a server with a `url` carry `headers`; without `credential`, it may ask for a sign-in.

        Raises:
            ToolError: it cannot be done within `start_seconds`; where one may sign in, that takes its own time.
        """
        self.closed = False
        """Whether it is of no use any more: closed, or the server has gone."""
        self._seconds = keyring.settings.timeout_seconds
        self._start_seconds = keyring.settings.start_seconds
        seconds = self._start_seconds
        self._said = ServerLogTail()
        with ExitStack() as stack:
            if server.url:
                transport: Any = over_http(server, headers, keyring, self._said)
                seconds += (
                    SIGN_IN_SECONDS
                    if keyring.settings.open_browser and not server.credential
                    else 0
                )
            else:
                limit = keyring.settings.max_body_bytes
                transport = over_stdio(server, self._said, most_bytes=limit)
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
                raise ToolError(None, self._with_last_words(problem), outcome="not_run") from error
            ended = ExitStack()
            ended.enter_context(suppress(Exception))  # that of a connection which ended by itself
            ended.push(stack.pop_all())
            self._end = finalize(
                self, ended.close
            )  # at the latest before Python ends, which would wait for it

    @property
    def name(self) -> str:
        """What the server calls itself; empty where it does not."""
        return getattr(self._client.server_info, "name", "")

    def tools(self) -> list[dict[str, Any]]:
        """The tools that the server lists, as MCP's JSON. Raises `ToolError` where it does not list them."""
        found: list[dict[str, Any]] = self._wait(self._list_tools, seconds=self._start_seconds)
        return found

    async def _list_tools(self) -> list[dict[str, Any]]:
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
        """MCP's result of calling a tool, as JSON. It is not compared with the tool's schema.

        Raises:
            ToolError: none came. Its `answer` is an error of the server's own, whose outcome is `failed` where it does
                not say that nothing was done.
        """
        # Not `call_tool`, which refuses a result that departs from the tool's schema.
        request = CallToolRequest(
            params=CallToolRequestParams(name=tool, arguments=dict(arguments))
        )
        asked = partial(self._client.session.send_request, request, CallToolResult)
        return _to_json(self._wait(asked, seconds=self._seconds, failed=failed))

    def close(self) -> None:
        """Close the connection, and end the server where we have started it. Twice is once."""
        self.closed = True
        self._end()

    def _wait(
        self, asked: Callable[[], Awaitable[Any]], *, seconds: float, failed: Outcome = "unknown"
    ) -> Any:
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
            if error.code != CONNECTION_CLOSED:
                # Errors with other codes the SDK also makes up itself.
                outcome = "refused" if error.code in _NOT_RUN else failed
                raise ToolError(
                    None, error.message, outcome=outcome, answer=error.message
                ) from None
            # With other words it is one answer over HTTP that broke off.
            self.closed = self.closed or error.message == "Connection closed"
            problem = self._with_last_words(error.message)
        finally:
            future.cancel()
        raise ToolError(None, problem, outcome="unknown")

    def _with_last_words(self, problem: str) -> str:
        said = self._said.last_lines()
        return f"{problem} (it said: {said})" if said else problem


@asynccontextmanager
async def _open_client(transport: Any, seconds: float) -> AsyncIterator[Client]:
    async with asyncio.timeout(seconds) as limit, Client(transport, cache=None) as client:
        limit.reschedule(None)
        yield client


def _to_json(value: BaseModel) -> dict[str, Any]:
    """A value of the SDK as MCP's JSON."""
    return value.model_dump(by_alias=True, mode="json", exclude_none=True)
