"""The HTTP+SSE transport of MCP's version of 2024, which older servers speak.

A GET opens an event stream. Its first event, `endpoint`, names the address to which the client
posts its messages, and later events carry the server's messages. The SDK has this transport too,
but with it a message that the server refuses is never answered.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin

import anyio
import httpx2
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCRequest,
    jsonrpc_message_adapter,
)

from protocols.urls import split_url

_MOST_REDIRECTS = 3
_CLOSED = (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream)


class NoEventStream(Exception):
    """A server does not speak the older HTTP+SSE transport. The message says what it does."""


@asynccontextmanager
async def over_sse(url: str, client: httpx2.AsyncClient, *, most_bytes: int) -> AsyncIterator[Any]:
    """Connect to a server of the older transport and yield the streams with its messages.

    An event of more than `most_bytes` ends the connection.

    Raises:
        NoEventStream: the server opens no event stream, or does not say where to post messages.
    """
    answer = await _open_events(url, client)
    received, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_stream, sent = anyio.create_memory_object_stream[SessionMessage](0)
    events = _Events(httpx2.EventSource(answer, max_event_size=most_bytes), received)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(events.read)
            await events.begun.wait()
            address = _post_address(url, events.endpoint)
            tasks.start_soon(_post_all, address, client, sent, received)
            try:
                yield read_stream, write_stream
            finally:
                tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await answer.aclose()
        for stream in (received, read_stream, write_stream, sent):
            stream.close()


@dataclass
class _Events:
    """Reads the events of a server, and passes its messages on."""

    source: httpx2.EventSource
    received: ObjectSendStream[SessionMessage | Exception]
    endpoint: str = ""
    """Address for messages as the server gives it, perhaps relative; empty if it gave none."""
    begun: anyio.Event = field(default_factory=anyio.Event)
    """Set when `endpoint` is known, or the stream has ended before."""

    async def read(self) -> None:
        """Read events until the stream ends. Then there is no connection any more."""
        with suppress(httpx2.StreamError, httpx2.TransportError, httpx2.SSEError, *_CLOSED):
            async for event in self.source:
                if event.event == "endpoint" and not self.begun.is_set():
                    self.endpoint = event.data.strip()
                    self.begun.set()
                elif event.event == "message" and event.data:
                    await self._receive(event.data)
        self.begun.set()
        await self.received.aclose()

    async def _receive(self, text: str) -> None:
        try:
            message = jsonrpc_message_adapter.validate_json(text, by_name=False)
        except ValueError as error:
            await self.received.send(error)
        else:
            await self.received.send(SessionMessage(message))


async def _open_events(url: str, client: httpx2.AsyncClient) -> httpx2.Response:
    """Open the event stream at an address, following redirects within its origin.

    Raises:
        NoEventStream: the answer is no event stream.
    """
    request = client.build_request("GET", url, headers={"Accept": "text/event-stream"})
    for _ in range(_MOST_REDIRECTS + 1):
        answer = await client.send(request, stream=True)
        following = answer.next_request
        if following is None or split_url(str(following.url))[0] != split_url(url)[0]:
            break
        await answer.aclose()
        request = following
    kind = answer.headers.get("content-type", "").lower()
    if answer.is_success and kind.startswith("text/event-stream"):
        return answer
    await answer.aclose()
    shown = kind or "no media type"
    raise NoEventStream(f"GET gives HTTP {answer.status_code} with {shown}, and no event stream")


def _post_address(url: str, endpoint: str) -> str:
    """Return the address for messages, which must be at the origin of the event stream.

    Raises:
        NoEventStream: the server names no such address.
    """
    if not endpoint:
        raise NoEventStream("its event stream does not say where to post messages")
    address = urljoin(url, endpoint)
    try:
        if split_url(address)[0] == split_url(url)[0]:
            return address
    except ValueError:
        pass
    raise NoEventStream(f"it wants messages posted to another host: {endpoint[:200]!r}")


async def _post_all(
    address: str,
    client: httpx2.AsyncClient,
    sent: ObjectReceiveStream[SessionMessage],
    received: ObjectSendStream[SessionMessage | Exception],
) -> None:
    """Post the client's messages. Requests are posted side by side."""
    async with anyio.create_task_group() as tasks:
        async for message in sent:
            if isinstance(message.message, JSONRPCRequest):
                tasks.start_soon(_post, address, client, message, received)
            else:
                await _post(address, client, message, received)


async def _post(
    address: str,
    client: httpx2.AsyncClient,
    sent: SessionMessage,
    received: ObjectSendStream[SessionMessage | Exception],
) -> None:
    """Post one message. If the server does not take a request, answer it with the error."""
    message = sent.message
    body = message.model_dump(by_alias=True, mode="json", exclude_unset=True)
    try:
        answer = await client.post(address, json=body)
    except (httpx2.TransportError, httpx2.StreamError) as error:
        text = f"Connection closed: {error or type(error).__name__}"
        problem = ErrorData(code=CONNECTION_CLOSED, message=text)
    else:
        if answer.is_success:
            return
        problem = _error_of(answer)
    if isinstance(message, JSONRPCRequest):
        with suppress(*_CLOSED):
            reply = JSONRPCError(jsonrpc="2.0", id=message.id, error=problem)
            await received.send(SessionMessage(reply))


def _error_of(answer: httpx2.Response) -> ErrorData:
    """Return the JSON-RPC error in a response, or one that names its status."""
    with suppress(ValueError):
        found = jsonrpc_message_adapter.validate_json(answer.content, by_name=False)
        if isinstance(found, JSONRPCError):
            return found.error
    return ErrorData(code=INTERNAL_ERROR, message=f"HTTP {answer.status_code}")
