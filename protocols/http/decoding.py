"""Incremental decompression of HTTP bodies, with bounded time and memory for each piece.

One layer of gzip or deflate is decompressed. A body with several layers is refused, because a few
kilobytes of it can keep a decompressor busy for hours before the first byte comes out.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from protocols.response import one_line

ACCEPTED: Final = "gzip, deflate"
"""Value of the `Accept-Encoding` request header."""
_STEP = 65_536  # bytes
_SLACK = 1_048_576
"""Compressed bytes allowed beyond twice the decompressed size.

Compression never doubles the size of a text, so a larger body was made to waste time.
"""
_GZIP = 31  # as `wbits` of zlib
_ZLIB = 15
_RAW = -15
_NO_CODINGS = ("", "identity")
_GZIP_NAMES = ("gzip", "x-gzip")
_NOT_ACCEPTED = ("br", "zstd", "compress", "x-compress")

Decompressor = Callable[[bytes], Iterable[bytes]]
"""Takes the next bytes of a body and yields their content.

Each piece has at most 64 KiB and may be empty.
"""


class DamagedBody(ValueError):
    """Raised if the bytes of a compressed body are not valid data of its encoding, such as gzip."""


class UndecodableBody(ValueError):
    """Raised if a body has an encoding that is not supported.

    The message of the exception is the end of a sentence that begins with "the body".
    """


def decompressor_for(encoding: str) -> Decompressor:
    """Return the decompressor for a body with this `Content-Encoding`.

    If its name is unknown, the decompressor yields the body unchanged, because some servers send
    the name of a charset in this header.

    Raises:
        UndecodableBody: the encoding has several layers, or was not requested.
    """
    names = [
        name for part in encoding.split(",") if (name := part.strip().lower()) not in _NO_CODINGS
    ]
    if len(names) > 1:
        raise UndecodableBody(
            f"is encoded {len(names)} times ({one_line(encoding, limit=60)!r}),"
            " where once is the most"
        )
    name = names[0] if names else ""
    if name in _NOT_ACCEPTED:
        raise UndecodableBody(f"is encoded as {name!r}, where {ACCEPTED} was asked for")
    if name in _GZIP_NAMES or name == "deflate":
        return _Decoder(name).iter_decompressed
    return _pass_through


def _pass_through(data: bytes) -> Iterable[bytes]:
    return (data,)


class _Decoder:
    """Decompresses one body.

    The body is gzip with one or more members, or deflate with or without a zlib header.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._stream: zlib._Decompress | None = None
        self._members = 0
        self._over = False
        """True if all further input is padding after the end of the body."""
        self._held = b""
        self._taken = 0
        self._given = 0

    def iter_decompressed(self, data: bytes) -> Iterator[bytes]:
        """Yield the decompressed content of `data`, the next piece of the body.

        Raises:
            DamagedBody: the data is not valid.
            UndecodableBody: the data is large but decompresses to almost nothing.
        """
        self._taken += len(data)
        full = False
        while data or full:
            piece, data = self._step(data)
            full = len(piece) == _STEP  # there may be more of the same input
            self._given += len(piece)
            yield piece
        if self._taken > 2 * self._given + _SLACK:
            raise UndecodableBody(
                f"has {self._taken:,} compressed bytes that hold only {self._given:,}"
            )

    def _step(self, data: bytes) -> tuple[bytes, bytes]:
        """Decompress a part of `data`. Return the result, and the part of `data` that is left."""
        if self._stream is None or self._stream.eof:
            data = self._begin(data)
        if self._over or not self._stream:
            return b"", b""
        try:
            piece = self._stream.decompress(data, _STEP)
        except zlib.error as error:
            if self._members > 1:  # many servers pad the body
                self._over = True
                return b"", b""
            raise DamagedBody(f"the body is no {self._name} that can be read ({error})") from None
        return piece, self._stream.unconsumed_tail or self._stream.unused_data

    def _begin(self, data: bytes) -> bytes:
        """Start to decompress if there is enough data to detect the format.

        Return the bytes to decompress: those of earlier calls that were too few to detect the
        format, followed by `data`.
        """
        if self._members and self._name == "deflate":
            self._over = True
        data = self._held + data
        self._held = b""
        if len(data) < 2:
            self._held = data
            return b""
        if self._name in _GZIP_NAMES:
            window_bits = _GZIP
        elif _is_zlib(data):
            window_bits = _ZLIB
        else:
            window_bits = _RAW
        self._stream = zlib.decompressobj(window_bits)
        self._members += 1
        return data


def _is_zlib(data: bytes) -> bool:
    """Return True if `data` begins with a zlib header."""
    return data[0] & 15 == 8 and int.from_bytes(data[:2]) % 31 == 0
