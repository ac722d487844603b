"""Streamable HTTP to an MCP server, with a limit on what is read. Imported only when such a server is connected."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp.client.streamable_http import streamable_http_client


@asynccontextmanager
async def http_transport(url: str, headers: Mapping[str, str], max_bytes: int) -> AsyncIterator[Any]:
    """The SDK's transport to `url`. Each request carries `headers`, and follows no redirect to another origin."""

    async def cap(response: httpx2.Response) -> None:
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Capped(response.stream, max_bytes)

    # A tool may take as long as its call may: the time-out is that of the call.
    timeout = httpx2.Timeout(30.0, read=None)
    async with (
        httpx2.AsyncClient(headers=dict(headers), timeout=timeout, event_hooks={"response": [cap]}) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=max_bytes) as streams,
    ):
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
