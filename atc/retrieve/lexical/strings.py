"""Many strings in a few arrays, in memory or mapped from disk: a million names open at once and cost no memory."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any, overload

import numpy as np

_ENCODING = ("utf-8", "surrogatepass")  # names come out of JSON, where half a surrogate pair is allowed


def mapped(path: Path) -> Any:
    """The array of a .npy file, read from disk as it is used.

    Raises:
        OSError, ValueError: it cannot be read, or is no such file.
    """
    try:
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))  # plain: slices of a memmap are slow
    except ValueError:  # nothing can be mapped of an empty array
        return np.load(path, allow_pickle=False)


class Strings(Sequence[str]):
    """Strings by position; and, where they were hashed, the position by string."""

    def __init__(self, data: Any, ends: Any, hashes: Any, order: Any) -> None:
        """`data`: all in UTF-8; `ends`: 0, and where each ends.

        `hashes`: of the strings, ascending; `order`: the position of the string of each. Both may be empty.
        """
        self._bytes = memoryview(data)
        self._data, self._ends, self._hashes, self._order = data, ends, hashes, order

    @classmethod
    def of(cls, strings: Iterable[str]) -> Strings:
        """`strings` in memory, hashed."""
        writer = StringsWriter()
        for string in strings:
            writer.add(string)
        return writer.finish(hashed=True)

    @classmethod
    def open(cls, folder: Path, stem: str) -> Strings:
        """What `save` wrote.

        Raises:
            OSError, ValueError: the files are not there, or are none of ours.
        """
        data = _mapped_bytes(folder / f"{stem}.text")
        ends, hashes, order = (mapped(folder / f"{stem}.{part}.npy") for part in ("ends", "hashes", "order"))
        if len(ends) < 1 or ends[-1] != len(data) or not len(hashes) == len(order) in {0, len(ends) - 1}:
            raise ValueError(f"the files of {stem!r} do not belong together")
        return cls(data, ends, hashes, order)

    def save(self, folder: Path, stem: str) -> None:
        """Write four files into `folder`; the text is there already where it was written piece by piece."""
        if not (folder / f"{stem}.text").exists():
            (folder / f"{stem}.text").write_bytes(self._bytes)
        np.save(folder / f"{stem}.ends.npy", self._ends)
        np.save(folder / f"{stem}.hashes.npy", self._hashes)
        np.save(folder / f"{stem}.order.npy", self._order)

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, position: int) -> str: ...
    @overload
    def __getitem__(self, position: slice) -> list[str]: ...
    def __getitem__(self, position: int | slice) -> str | list[str]:
        if isinstance(position, slice):
            return [self[i] for i in range(*position.indices(len(self)))]
        return str(self.raw(position), *_ENCODING)

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), 4096):
            ends = self._ends[start : start + 4097].tolist()
            block = bytes(self._bytes[ends[0] : ends[-1]])
            yield from (str(block[a - ends[0] : b - ends[0]], *_ENCODING) for a, b in pairwise(ends))

    def raw(self, position: int) -> bytes:
        """The UTF-8 of one string."""
        if not 0 <= position < len(self):
            raise IndexError(position)
        return bytes(self._bytes[self._ends[position] : self._ends[position + 1]])

    def piece(self, first: int, after: int) -> tuple[memoryview, Any]:
        """The UTF-8 of the strings at `first` up to `after`, and where each ends in it."""
        start, end = self._ends[first], self._ends[after]
        return self._bytes[start:end], self._ends[first + 1 : after + 1] - start

    def find(self, string: str) -> int | None:
        """The position of `string`; None where it is not one of them."""
        return self.find_all([string])[0]

    def find_all(self, strings: Sequence[str]) -> list[int | None]:
        """The position of each, see `find`."""
        wanted = [string.encode(*_ENCODING) for string in strings]
        hashes = np.array([_hash(string) for string in wanted], dtype=np.uint64)
        starts = np.searchsorted(self._hashes, hashes).tolist()
        return [self._held(string, h, start) for string, h, start in zip(wanted, hashes, starts, strict=True)]

    def _held(self, string: bytes, wanted: np.uint64, place: int) -> int | None:
        while place < len(self._order) and self._hashes[place] == wanted:  # different strings may share a hash
            position = int(self._order[place])
            if self.raw(position) == string:
                return position
            place += 1
        return None

    def twice(self) -> str | None:
        """A string that stands more than once, if there is one; they must have been hashed."""
        equal = self._hashes[1:] == self._hashes[:-1]
        shared = self._order[np.append(equal, False) | np.append(False, equal)] if len(equal) else []
        return next((string for string, times in Counter(self[i] for i in shared).items() if times > 1), None)


def _hash(string: bytes) -> int:
    return int.from_bytes(blake2b(string, digest_size=8).digest(), "little")


class StringsWriter:
    """Collects strings, piece by piece into a file where one is named."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._file: Any = BytesIO() if path is None else path.open("xb")
        self._ends = array("q", [0])

    def add(self, string: str) -> None:
        """One more string."""
        self._ends.append(self._ends[-1] + self._file.write(string.encode(*_ENCODING)))

    def copy(self, strings: Strings, first: int, after: int) -> None:
        """The strings at `first` up to `after` of others, in one piece."""
        data, ends = strings.piece(first, after)
        self._file.write(data)
        self._ends.extend(array("q", (ends + self._ends[-1]).tobytes()))

    def finish(self, *, hashed: bool) -> Strings:
        """All that was added; `hashed`, to find a string's position."""
        if self._path is None:
            data = np.frombuffer(self._file.getvalue(), dtype=np.uint8)
        else:
            self._file.close()
            data = _mapped_bytes(self._path)
        ends = np.frombuffer(self._ends, dtype=np.int64)
        hashes, order = np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int32)
        if hashed:
            plain = Strings(data, ends, hashes, order)
            hashes = np.fromiter((_hash(plain.raw(i)) for i in range(len(plain))), np.uint64, len(plain))
            order = np.argsort(hashes, kind="stable").astype(np.int32)
            hashes = hashes[order]
        return Strings(data, ends, hashes, order)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


def _mapped_bytes(path: Path) -> Any:
    return np.memmap(path, dtype=np.uint8, mode="r") if path.stat().st_size else np.zeros(0, dtype=np.uint8)
