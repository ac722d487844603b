"""One MCP server, connected: the SDK's client on a thread of its own, so that any thread can call it and wait."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
import time
from collections.abc import AsyncIterator, Coroutine, Mapping
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as TookTooLong
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from protocols.jsontypes import Json, JsonObject
from protocols.oauth import SIGN_IN_SECONDS, SignInPage
from protocols.reply import one_line
from protocols.settings import McpServer

if TYPE_CHECKING:
    from mcp.client import Client

INHERITED = ("PATH", "HOME", "LANG", "TMPDIR")
"""All that a server's command gets of our environment."""
_LAUNCHER = Path(__file__).with_name("launcher.py")
_TOLD = 4_000  # bytes kept of what a server says on stderr
_MOST_PAGES = 100  # of a list of tools; a server may never come to an end
_GLANCE_SECONDS = 0.5  # after which the waiting thread looks whether the loop still runs
_LAG_SECONDS = 5.0  # that the waiting thread allows the loop beyond its own time-out


class ConnectionFailed(Exception):
    """The server could not be started or reached; nothing was called. The message says what it said."""


class AnswerLost(Exception):
    """A call was sent, and no answer came: time-out, the server's end, or what is no answer."""


class AnswerRefused(Exception):
    """The server answered a call with an error of the protocol; `code` is JSON-RPC's."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class CallResult(NamedTuple):
    """What a tool gave: MCP's content blocks as JSON, and its structured content, `None` where it has none."""

    content: list[dict[str, Any]]
    structured: Json
    is_error: bool


class Connection:
    """A connected server. Safe for threads. Closing it ends the server that it has started."""

    def __init__(
        self,
        server: McpServer,
        *,
        headers: Mapping[str, str],
        max_bytes: int,
        sign_in: SignInPage | None = None,
        homes: set[str] | None = None,
        start_seconds: float = 60.0,
    ) -> None:
        """Connect.

        Raises:
            ConnectionFailed: it cannot be done within `start_seconds`; where one may sign in, that takes its own time.
        """
        self._server, self._headers, self._max_bytes = server, headers, max_bytes
        self._sign_in, self._homes = sign_in, homes or set()
        if sign_in is not None and sign_in.open_browser is not None:
            start_seconds += SIGN_IN_SECONDS
        self._told = b""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None
        self._stop: asyncio.Event | None = None
        self._ready: Future[Client] = Future()
        self.closed = False
        """Whether it is of no use any more: closed, or the server has gone."""
        self._thread = threading.Thread(target=self._run, args=(start_seconds,), name="mcp", daemon=True)
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
        from mcp_types import PaginatedRequestParams

        found: list[dict[str, Any]] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            asked = PaginatedRequestParams(cursor=cursor) if cursor else None
            page = self._wait(self._client.session.list_tools(params=asked), timeout_seconds)
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
        from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult

        # Not `call_tool`, which refuses a result that departs from the tool's schema.
        request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=dict(arguments)))
        session = self._client.session
        asked = session.send_request(request, CallToolResult, request_read_timeout_seconds=timeout_seconds)
        result = self._wait(asked, timeout_seconds)
        return CallResult([_plain(block) for block in result.content], result.structured_content, bool(result.is_error))

    def close(self) -> None:
        """Close the connection, and end the server where we have started it. Twice is once."""
        self.closed = True
        loop, stop, task = self._loop, self._stop, self._task
        if loop is not None and stop is not None and task is not None:
            with suppress(RuntimeError):  # the loop is closed already
                # One that is still being connected is not waited for.
                loop.call_soon_threadsafe(stop.set if self._ready.done() else task.cancel)
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _wait(self, asked: Coroutine[Any, Any, Any], seconds: float) -> Any:
        work = self._answered(asked, seconds)
        if self.closed or self._loop is None or self._loop.is_closed():
            asked.close()
            work.close()
            raise ConnectionFailed("its connection is closed")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        deadline = time.monotonic() + seconds + _LAG_SECONDS
        try:
            while True:
                try:
                    return future.result(_GLANCE_SECONDS)
                except TookTooLong:
                    # What is given to a loop in its last moment is never run, nor is it cancelled.
                    if not (future.done() or self._thread.is_alive()):
                        work.close()
                        raise AnswerLost(self._with_told("the connection ended")) from None
                    if time.monotonic() > deadline:
                        raise AnswerLost(f"no answer within {seconds:g} s") from None
        except CancelledError:
            self.closed = True
            raise AnswerLost(self._with_told("the connection ended")) from None
        finally:
            future.cancel()

    def _run(self, start_seconds: float) -> None:
        try:
            asyncio.run(self._serve(start_seconds))
        except BaseException as error:  # noqa: BLE001 - whatever ends the thread must reach who waits for it
            while isinstance(error, BaseExceptionGroup):
                error = error.exceptions[0]
            if not self._ready.done():
                self._ready.set_exception(error)
        finally:
            self.closed = True
            if not self._ready.done():
                self._ready.set_exception(EOFError("the connection ended"))

    async def _serve(self, start_seconds: float) -> None:
        from mcp.client import Client

        # With no handler at all, what the SDK logs (each line that is no message) would be printed on the terminal.
        logging.getLogger("mcp").addHandler(_SILENT)
        self._loop, self._stop, self._task = asyncio.get_running_loop(), asyncio.Event(), asyncio.current_task()
        if self.closed:
            return
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(start_seconds):
                if self._server.url:
                    from protocols.mcp.http import http_transport

                    transport = http_transport(
                        self._server.url, self._headers, self._max_bytes, self._sign_in, self._homes
                    )
                else:
                    transport = await stack.enter_async_context(self._stdio())
                client = await stack.enter_async_context(Client(transport, cache=None))
            self._ready.set_result(client)
            await self._stop.wait()

    @asynccontextmanager
    async def _stdio(self) -> AsyncIterator[Any]:
        """The SDK's transport over a command; what the command says on stderr is kept, and not shown."""
        from mcp.client.stdio import StdioServerParameters, stdio_client

        environment = {name: os.environ[name] for name in INHERITED if name in os.environ}
        environment |= self._server.environment
        words = ["-I", "-S", str(_LAUNCHER), str(self._max_bytes), ",".join(environment), *self._server.command]
        parameters = StdioServerParameters(
            command=sys.executable, args=words, env=environment, encoding_error_handler="replace"
        )
        reading, writing = os.pipe()
        loop = asyncio.get_running_loop()
        os.set_blocking(reading, False)
        loop.add_reader(reading, self._listen, reading)
        try:
            with os.fdopen(writing, "w") as errors:
                yield stdio_client(parameters, errlog=errors)
        finally:
            loop.remove_reader(reading)
            self._listen(reading)
            os.close(reading)

    def _listen(self, descriptor: int) -> None:
        with suppress(BlockingIOError):
            while data := os.read(descriptor, 65_536):
                self._told = (self._told + data)[-_TOLD:]
            if self._loop is not None:
                self._loop.remove_reader(descriptor)

    async def _answered(self, asked: Coroutine[Any, Any, Any], seconds: float) -> Any:
        from mcp import MCPError
        from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT
        from pydantic import ValidationError

        try:
            async with asyncio.timeout(seconds):
                return await asked
        except TimeoutError:
            raise AnswerLost(f"no answer within {seconds:g} s") from None
        except MCPError as error:
            if error.code == REQUEST_TIMEOUT:
                raise AnswerLost(f"no answer within {seconds:g} s") from None
            if error.code == CONNECTION_CLOSED:
                # With other words it is one answer over HTTP that broke off.
                self.closed = self.closed or error.message == "Connection closed"
                raise AnswerLost(self._with_told(error.message)) from None
            raise AnswerRefused(error.code, error.message) from None
        except ValidationError as error:
            raise AnswerLost(f"its answer is none that MCP knows ({error.error_count()} errors)") from None

    def _with_told(self, problem: str) -> str:
        """`problem`, and the last lines that the server's command said on stderr."""
        lines = self._told.decode("utf-8", "replace").strip().splitlines()[-2:]
        return f"{problem} (it said: {one_line('; '.join(lines), limit=300)})" if lines else problem


def _plain(value: Any) -> dict[str, Any]:
    """A value of the SDK as MCP's JSON."""
    plain: dict[str, Any] = value.model_dump(by_alias=True, mode="json", exclude_none=True)
    return plain


_SILENT = logging.NullHandler()
