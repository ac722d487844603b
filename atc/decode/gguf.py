"""What a GGUF file says about its tokenizer. Only the metadata at its beginning is read, never the weights."""

from __future__ import annotations

import mmap
import struct
from pathlib import Path
from typing import Any

from atc.decode.errors import Undecodable

_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_VERSIONS = (2, 3)
_LONGEST_KEY = 65_535  # GGUF's own limit


def tokenizer_metadata(path: Path) -> dict[str, Any]:
    """The `tokenizer.*` fields of the file at `path`; strings are bytes, arrays are lists.

    Raises:
        Undecodable: the file cannot be read, is not a GGUF file, or is damaged.
    """
    try:
        with path.open("rb") as file:
            if file.read(4) != b"GGUF":
                raise Undecodable(f"{str(path)!r} is not a GGUF model; name a .gguf file.")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return _Reader(data).fields("tokenizer.")
    except OSError as error:
        raise Undecodable(f"the model file {str(path)!r} cannot be read ({error.strerror}).") from error
    except (struct.error, ValueError) as error:
        raise Undecodable(f"the model file {str(path)!r} is damaged: {error}; fetch it again.") from error


class _Reader:
    """Values one after the other, little-endian; a length that leaves the file is a ValueError."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._at = 4  # behind the magic

    def fields(self, prefix: str) -> dict[str, Any]:
        version = self._scalar("I")
        if version not in _VERSIONS:
            raise ValueError(f"its version is {version}, not one of {_VERSIONS}")
        self._scalar("Q")  # how many tensors
        found: dict[str, Any] = {}
        for _ in range(self._scalar("Q")):
            key = self._string(_LONGEST_KEY).decode("utf-8", "replace")
            value = self._value(self._scalar("I"))
            if key.startswith(prefix):
                found[key] = value
        return found

    def _scalar(self, code: str) -> Any:
        (value,) = struct.unpack_from(f"<{code}", self._data, self._at)
        self._at += struct.calcsize(f"<{code}")
        return value

    def _string(self, longest: int | None = None) -> bytes:
        length = self._scalar("Q")
        end = self._at + length
        if end > len(self._data) or (longest is not None and length > longest):
            raise ValueError(f"a text at byte {self._at} would have {length} bytes")
        text = self._data[self._at : end]
        self._at = end
        return text

    def _value(self, kind: int) -> Any:
        if kind == _STRING:
            return self._string()
        if kind == _ARRAY:
            return self._array()
        if kind not in _SCALARS:
            raise ValueError(f"a value at byte {self._at} has the unknown type {kind}")
        return self._scalar(_SCALARS[kind])

    def _array(self) -> list[Any]:
        kind, count = self._scalar("I"), self._scalar("Q")
        if kind == _STRING:
            if count * 8 > len(self._data) - self._at:  # every text has 8 bytes of length
                raise ValueError(f"a list at byte {self._at} would have {count} texts")
            return [self._string() for _ in range(count)]
        if kind not in _SCALARS:
            raise ValueError(f"a list at byte {self._at} has items of the type {kind}")
        layout = f"<{count}{_SCALARS[kind]}"
        if count > len(self._data) - self._at:
            raise ValueError(f"a list at byte {self._at} would have {count} items")
        values = struct.unpack_from(layout, self._data, self._at)
        self._at += struct.calcsize(layout)
        return list(values)
