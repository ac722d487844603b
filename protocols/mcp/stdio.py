"""An MCP server that is a command, spoken to over its stdin and stdout, each line of which has a limit.

The SDK's own transport reads a line however long it becomes.
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
"""For the command to end when its stdin does, then when it is asked to, and then when it is killed."""
_REST_SECONDS = 0.5
"""For what is left of its stderr, which a child of it may hold open, once its stdout has ended."""
_POLL_SECONDS = 0.01
_MOST_REQUESTS = 5_000
"""Requests of the server that wait for their answer; each takes memory."""
_FLOOD_BYTES = 65_536
"""Of stderr at once. Who writes so much is slowed down, so that messages are not."""
_GONE = (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream, OSError)


@asynccontextmanager
async def over_stdio(
    server: McpServer, log: ServerLogTail, *, most_bytes: int
) -> AsyncIterator[Any]:
    """Start the command of `server` and yield the streams of its messages; `log` keeps the end of its stderr.

    A line of more than `most_bytes` ends the connection. The command and what it has started end with the context.

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
        said = _StderrReader(log)
        tasks.start_soon(said.read, process)
        tasks.start_soon(_read, process, received, said, most_bytes, waiting)
        tasks.start_soon(_write, process, sent, received, said, waiting)
        try:
            yield read_stream, write_stream
        finally:
            with anyio.CancelScope(shield=True):  # else the command would be left behind
                read_stream.close()
                write_stream.close()
                await _end(process)
            tasks.cancel_scope.cancel()
            for stream in (received, read_stream, write_stream, sent):
                stream.close()


@dataclass(slots=True)
class _PendingRequests:
    """How many requests of the server have not been answered yet."""

    requests: int = 0

    def count(self, message: SessionMessage | Exception, *, by: int) -> None:
        """Count a message: +1 for one received, -1 for one sent."""
        kind = JSONRPCRequest if by > 0 else JSONRPCResponse | JSONRPCError
        if isinstance(message, SessionMessage) and isinstance(message.message, kind):
            self.requests += by


class _StderrReader:
    """Reads the stderr of a command, however much it writes there, and keeps the end of it."""

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
        """Add a line of our own about the command."""
        self._log.add(f"\n{problem}\n".encode())

    async def wait(self) -> None:
        """Wait a moment for the rest of it, where the command has gone: it says why."""
        with anyio.move_on_after(_REST_SECONDS):
            await self._whole.wait()


async def _read(
    process: Process,
    received: ObjectSendStream[Any],
    said: _StderrReader,
    most_bytes: int,
    waiting: _PendingRequests,
) -> None:
    """Hand on the messages on stdout, then read on without looking, so that the command can end."""
    assert process.stdout is not None
    with suppress(*_GONE):
        async with received:
            rest = bytearray()
            async for piece in process.stdout:
                *lines, tail = piece.split(b"\n")
                if len(rest) + len(lines[0] if lines else tail) > most_bytes:
                    said.note(f"a line over the limit of {most_bytes:,} bytes")
                    break
                for line in lines:
                    message = _message(bytes(rest) + line)
                    waiting.count(message, by=1)
                    await received.send(message)
                    rest.clear()
                if waiting.requests > _MOST_REQUESTS:
                    said.note(f"over {_MOST_REQUESTS:,} requests before one was answered")
                    break
                rest += tail
            else:
                await said.wait()
    with suppress(*_GONE):
        async for _ in process.stdout:
            pass


async def _write(
    process: Process,
    sent: ObjectReceiveStream[SessionMessage],
    received: ObjectSendStream[Any],
    said: _StderrReader,
    waiting: _PendingRequests,
) -> None:
    assert process.stdin is not None
    try:
        async with sent:
            async for message in sent:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                await process.stdin.send(f"{text}\n".encode("utf-8", "replace"))
                waiting.count(message, by=-1)
    except _GONE:
        await said.wait()
        await received.aclose()  # it cannot be asked any more, though it may still run


def _message(line: bytes) -> SessionMessage | Exception:
    try:
        text = line.decode("utf-8", "replace")
        return SessionMessage(jsonrpc_message_adapter.validate_json(text, by_name=False))
    except ValueError as error:  # the session decides what that means
        return error


async def _end(process: Process) -> None:
    """Close stdin, wait, and end what is left of the command and its children."""
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
    """Wait a moment for the command to end. Not by `wait`, which children with its stdout would hold up."""
    with anyio.move_on_after(_END_SECONDS):
        while process.returncode is None:
            await anyio.sleep(_POLL_SECONDS)
    return process.returncode is not None
