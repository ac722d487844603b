"""Bodies of HTTP responses of MCP servers, with limits on size, lines and time."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

import anyio
import httpx2

from protocols.http.decoding import DamagedBody, UndecodableBody, decompressor_for


class LimitedStream(httpx2.AsyncByteStream):
    """The raw bytes of a response, of which at most `most_bytes` can be read.

    Reading more raises an error.
    """

    def __init__(self, stream: Any, most_bytes: float) -> None:
        self._stream = stream
        self._most_bytes = most_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for piece in self._stream:
            read += len(piece)
            if read > self._most_bytes:
                raise _size_error(self._most_bytes)
            yield piece

    async def aclose(self) -> None:
        """Close the underlying stream of the response."""
        await self._stream.aclose()


def _size_error(limit: float) -> httpx2.StreamError:
    return httpx2.StreamError(f"the answer is over the limit of {limit:,} bytes")


def _timeout_error() -> httpx2.StreamError:
    return httpx2.StreamError("the answer was not whole in time")


class DecompressedStream(httpx2.AsyncByteStream):
    """The decompressed body of a response. Raises an error when a limit is exceeded."""

    def __init__(
        self,
        answer: httpx2.Response,
        *,
        most_bytes: float,
        most_lines: float,
        deadline: float,
        note: Callable[[str], None],
    ) -> None:
        """Wrap the body of the response `answer`.

        `deadline` is a time of anyio's clock. If the body cannot be read to its end, `note` is
        called with the reason, which the SDK does not report for event streams.
        """
        self._answer = answer
        self._note = note
        self._most_bytes = most_bytes
        self._most_lines = most_lines
        self._deadline = deadline
        self._bytes = 0
        self._lines = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async with aclosing(self._iter_decompressed()) as pieces:
                async for piece in pieces:
                    self._count(piece)
                    yield piece
        except httpx2.StreamError as error:
            self._note(str(error))
            raise

    async def _iter_decompressed(self) -> AsyncGenerator[bytes]:
        """Yield the decompressed pieces of the body."""
        try:
            steps = decompressor_for(self._answer.headers.get("content-encoding", ""))
            async with aclosing(self._answer.aiter_raw()) as pieces:
                while (received := await self._next(pieces)) is not None:
                    for piece in steps(received):
                        if anyio.current_time() > self._deadline:
                            raise _timeout_error()
                        if piece:
                            yield piece
        except UndecodableBody as error:
            raise httpx2.StreamError(f"the answer {error}") from None
        except DamagedBody as error:
            raise httpx2.StreamError(str(error)) from None

    async def _next(self, pieces: AsyncIterator[bytes]) -> bytes | None:
        """Return the next piece of the compressed body, or None at the end.

        Raises `httpx2.StreamError` after the deadline.
        """
        left = self._deadline - anyio.current_time()
        try:
            with anyio.fail_after(None if left == math.inf else left):
                return await anext(pieces, None)
        except TimeoutError:
            raise _timeout_error() from None

    def _count(self, piece: bytes) -> None:
        """Count the bytes and lines of a piece of the body.

        Raises `httpx2.StreamError` if they exceed the limits.
        """
        self._bytes += len(piece)
        self._lines += piece.count(b"\n") + piece.count(b"\r")
        if self._bytes > self._most_bytes:
            raise _size_error(self._most_bytes)
        if self._lines > self._most_lines:
            raise httpx2.StreamError(
                f"the stream of events is over the limit of {self._most_lines:,} lines"
            )

    async def aclose(self) -> None:
        """Close the response."""
        await self._answer.aclose()
