"""Transport for an MCP server that is a command, over its stdin and stdout.

The length of a line is limited. The SDK's own transport reads lines of any length.
"""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream, Process
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCRequest, JSONRPCResponse, jsonrpc_message_adapter

from protocols.mcp.log import ServerLogTail
from protocols.settings import McpServer

_END_SECONDS = 2.0
"""Time within which the command must end after its stdin was closed, and again after each signal.

The signals are SIGTERM and then SIGKILL.
"""
_REST_SECONDS = 0.5
"""Time to read the rest of stderr after stdout has ended. A child process may keep it open."""
_POLL_SECONDS = 0.01
_MOST_REQUESTS = 5_000
"""Maximum number of requests from the server that are unanswered. Each takes memory."""
_FLOOD_BYTES = 65_536
"""Size of a piece of stderr after which reading pauses, so that messages are not delayed."""
_GONE = (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream, OSError)


@asynccontextmanager
async def over_stdio(
    server: McpServer, log: ServerLogTail, *, most_bytes: int
) -> AsyncIterator[Any]:
    """Start the command of `server`, and yield the streams with its messages.

    A line of more than `most_bytes` ends the connection. The command and its child processes are
    ended when the context is left. `log` receives the command's stderr.

    Raises:
        OSError: the command cannot be started.
    """
    environment = get_default_environment() | dict(server.env)
    process = await anyio.open_process(
        list(server.command), env=environment, start_new_session=True
    )
    received, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_stream, sent = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as tasks:
        waiting = _PendingRequests()
        stderr = _StderrReader(log)
        tasks.start_soon(stderr.read, process)
        tasks.start_soon(_read, process, received, stderr, most_bytes, waiting)
        tasks.start_soon(_write, process, sent, received, stderr, waiting)
        try:
            yield read_stream, write_stream
        finally:
            with anyio.CancelScope(shield=True):  # otherwise the command would keep running
                read_stream.close()
                write_stream.close()
                await _end(process)
            tasks.cancel_scope.cancel()
            for stream in (received, read_stream, write_stream, sent):
                stream.close()


@dataclass(slots=True)
class _PendingRequests:
    """Number of requests from the server that have no response yet."""

    requests: int = 0

    def count(self, message: SessionMessage | Exception, *, by: int) -> None:
        """Add 1 for a request from the server, or -1 for the response to one.

        `by` says which of the two is expected. Other messages are ignored.
        """
        kind = JSONRPCRequest if by > 0 else JSONRPCResponse | JSONRPCError
        if isinstance(message, SessionMessage) and isinstance(message.message, kind):
            self.requests += by


class _StderrReader:
    """Reads everything that a command writes to stderr, and adds it to a log."""

    def __init__(self, log: ServerLogTail) -> None:
        self._log = log
        self._whole = anyio.Event()

    async def read(self, process: Process) -> None:
        """Read until the command closes its stderr."""
        assert process.stderr is not None
        with suppress(*_GONE):
            async for piece in process.stderr:
                self._log.add(piece)
                if len(piece) >= _FLOOD_BYTES:
                    await anyio.sleep(_POLL_SECONDS)
        self._whole.set()

    def note(self, problem: str) -> None:
        """Append a line to the log that comes from atc and not from the server."""
        self._log.add(f"\n{problem}\n".encode())

    async def wait(self) -> None:
        """Wait a moment until all of stderr has been read.

        The end of stderr says why the command has ended.
        """
        with anyio.move_on_after(_REST_SECONDS):
            await self._whole.wait()


async def _read(
    process: Process,
    received: ObjectSendStream[Any],
    stderr: _StderrReader,
    most_bytes: int,
    waiting: _PendingRequests,
) -> None:
    """Pass the messages that the command writes to stdout to the client.

    After an error, read and discard all further output, so that the command can end.
    """
    assert process.stdout is not None
    with suppress(*_GONE):
        async with received:
            rest = bytearray()
            async for piece in process.stdout:
                *lines, tail = piece.split(b"\n")
                if len(rest) + len(lines[0] if lines else tail) > most_bytes:
                    stderr.note(f"a line over the limit of {most_bytes:,} bytes")
                    break
                for line in lines:
                    message = _message(bytes(rest) + line)
                    waiting.count(message, by=1)
                    await received.send(message)
                    rest.clear()
                if waiting.requests > _MOST_REQUESTS:
                    stderr.note(f"over {_MOST_REQUESTS:,} requests before one was answered")
                    break
                rest += tail
            else:
                await stderr.wait()
    with suppress(*_GONE):
        async for _ in process.stdout:
            pass


async def _write(
    process: Process,
    sent: ObjectReceiveStream[SessionMessage],
    received: ObjectSendStream[Any],
    stderr: _StderrReader,
    waiting: _PendingRequests,
) -> None:
    """Write the client's messages to the command's stdin until the command is gone."""
    assert process.stdin is not None
    try:
        async with sent:
            async for message in sent:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                await process.stdin.send(f"{text}\n".encode("utf-8", "replace"))
                waiting.count(message, by=-1)
    except _GONE:
        await stderr.wait()
        await received.aclose()  # no request can be sent, even if the command still runs


def _message(line: bytes) -> SessionMessage | Exception:
    """Return the JSON-RPC message in a line, or the error if the line is not a valid message."""
    try:
        text = line.decode("utf-8", "replace")
        return SessionMessage(jsonrpc_message_adapter.validate_json(text, by_name=False))
    except ValueError as error:  # the session handles it
        return error


async def _end(process: Process) -> None:
    """Close stdin and wait until the command ends. If it does not, kill it and its children."""
    assert process.stdin is not None
    with suppress(*_GONE), anyio.move_on_after(_END_SECONDS):
        await process.stdin.aclose()
    for number in (signal.SIGTERM, signal.SIGKILL):
        if await _wait_for_exit(process):
            break
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
    with suppress(*_GONE), anyio.move_on_after(_END_SECONDS):
        await process.aclose()


async def _wait_for_exit(process: Process) -> bool:
    """Wait a moment for the command to end, and return True if it did.

    `Process.wait` is not used: child processes that hold stdout open would delay it.
    """
    with anyio.move_on_after(_END_SECONDS):
        while process.returncode is None:
            await anyio.sleep(_POLL_SECONDS)
    return process.returncode is not None
