"""Decompression of HTTP bodies, in steps that each take little time and memory.

One layer of gzip or deflate is decompressed. A body within several layers is refused: some kilobytes of it can keep a
decompressor busy for hours before a byte comes out.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from protocols.response import one_line

ACCEPTED: Final = "gzip, deflate"
"""What a request says in `Accept-Encoding`."""
_STEP = 65_536  # bytes
_SLACK = 1_048_576
"""Bytes that a body may take beyond twice those that it gives: compression never doubles a text."""
_GZIP = 31  # as `wbits` of zlib
_ZLIB = 15
_RAW = -15
_NO_CODINGS = ("", "identity")
_GZIP_NAMES = ("gzip", "x-gzip")
_NOT_ACCEPTED = ("br", "zstd", "compress", "x-compress")

Decompressor = Callable[[bytes], Iterable[bytes]]
"""Takes the next bytes of a body; gives what they hold, a piece of at most 64 KiB a step, which may be empty."""


class DamagedBody(ValueError):
    """A body is not what its coding says."""


class UndecodableBody(ValueError):
    """A body is encoded in a way that is not decompressed. The text goes on after "the body"."""


def decompressor_for(encoding: str) -> Decompressor:
    """Return what decompresses a body with this `Content-Encoding`.

    A name that stands for no compression (servers also send charsets there) leaves the body as it is.

    Raises:
        Undecodable: it names several layers, or a compression that was not asked for.
    """
    names = [
        name for part in encoding.split(",") if (name := part.strip().lower()) not in _NO_CODINGS
    ]
    if len(names) > 1:
        raise UndecodableBody(
            f"is encoded {len(names)} times ({one_line(encoding, limit=60)!r}), where once is the most"
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
    """Decompresses one body of gzip, which may have several members, or of deflate, with or without zlib's frame."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._stream: zlib._Decompress | None = None
        self._members = 0
        self._over = False
        """Whether what still comes is no part of the body."""
        self._held = b""
        self._taken = 0
        self._given = 0

    def iter_decompressed(self, data: bytes) -> Iterator[bytes]:
        """See `Steps`. Raises `Damaged`, and `Undecodable` for data that gives next to nothing."""
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
        """Return the next piece, and what is left of `data`."""
        if self._stream is None or self._stream.eof:
            data = self._begin(data)
        if self._over or not self._stream:
            return b"", b""
        try:
            piece = self._stream.decompress(data, _STEP)
        except zlib.error as error:
            if self._members > 1:  # many servers pad a body
                self._over = True
                return b"", b""
            raise DamagedBody(f"the body is no {self._name} that can be read ({error})") from None
        return piece, self._stream.unconsumed_tail or self._stream.unused_data

    def _begin(self, data: bytes) -> bytes:
        """Begin a stream, if `data` is enough to tell its kind; return what is to be decompressed."""
        if self._members and self._name == "deflate":
            self._over = True
        data = self._held + data
        self._held = b""
        if len(data) < 2:
            self._held = data
            return b""
        kind = _GZIP if self._name in _GZIP_NAMES else _ZLIB if _is_zlib(data) else _RAW
        self._stream = zlib.decompressobj(kind)
        self._members += 1
        return data


def _is_zlib(data: bytes) -> bool:
    """Return True if `data` begins with the two bytes of zlib's frame."""
    return data[0] & 15 == 8 and int.from_bytes(data[:2]) % 31 == 0
