"""The channel of a container: its standard input and output, over one connection to the engine."""

from __future__ import annotations

import socket
import struct
from contextlib import suppress
from typing import Any

_HEADER = struct.Struct(">BxxxL")
"""What the engine puts before each piece of output: which stream it is of, and its length."""

_OUTPUT = 1
_ERROR_BYTES = 4000


class AttachedStream:
    """A stream (`sandbox.frames.Stream`) that takes the engine's headers out of what the container writes.

    `expected` is what must come before all else, as far as it has not come yet; `errors` is the beginning of what came
    on standard error.
    """

    def __init__(self, attached: Any) -> None:
        self.expected = b""
        self.errors = b""
        self._attached = attached  # what the SDK gives: a reader over the socket, which goes when the reader goes
        self._socket = getattr(attached, "_sock", attached)
        self._data = b""
        self._kind, self._left = _OUTPUT, 0  # of the piece that is being read: its stream, and how much is to come

    def recv(self, size: int, /) -> bytes:
        """Output as it comes, without what was expected; nothing at the end.

        Raises:
            OSError: the connection broke, it took too long, or something else came than what is expected.
        """
        while self.expected:
            said = self._output(len(self.expected))
            if not said or not self.expected.startswith(said):
                raise ConnectionError("the container did not say what it must")
            self.expected = self.expected[len(said) :]
        return self._output(size)

    def sendall(self, data: bytes, /) -> None:
        """Give all of `data` to the container's standard input."""
        self._socket.sendall(data)

    def settimeout(self, seconds: float | None, /) -> None:
        """How long `recv` and `sendall` wait before `TimeoutError`."""
        self._socket.settimeout(seconds)

    def shutdown(self, how: int, /) -> None:
        """Have the other methods return at once, also where they wait in another thread."""
        self._socket.shutdown(how)

    def close(self) -> None:
        """Hang up. The engine then stops reading what the container writes."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        # In this order: the response would flush its reader, which must not be closed by then.
        for end in (getattr(self._attached, "_response", None), self._attached, self._socket):
            if end is not None:
                with suppress(OSError):
                    end.close()

    def _output(self, size: int) -> bytes:
        while True:
            if self._left and self._data:
                taken = self._data[: min(size, self._left)]
                self._data = self._data[len(taken) :]
                self._left -= len(taken)
                if self._kind == _OUTPUT:
                    return taken
                self.errors = (self.errors + taken)[:_ERROR_BYTES]
            elif not self._left and len(self._data) >= _HEADER.size:
                self._kind, self._left = _HEADER.unpack_from(self._data)
                self._data = self._data[_HEADER.size :]
            else:
                received = self._socket.recv(65536)
                if not received:
                    return b""
                self._data += received
