"""The class `File`, with which a program uses a body that is not text, or too large for a value.

The program has only the description of the file. It reads the bytes from the host as it needs them.
The host knows which files this run may read, whatever number the program sends. This module imports
only the standard library.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Protocol

_STEP = 262_144  # bytes that are requested at once
_SHOWN_LINES = 20
_SHOWN_CHARACTERS = 2000
_MOST_VISITED = 100_000
_DELIMITERS = ",;\t|"

Row = dict[str, str]


class Reader(Protocol):
    """The connection to the host, as far as files need it."""

    def read_file(self, number: int, start: int, size: int) -> bytes:
        """Return up to `size` bytes of a file from the position `start`; b"" after the end."""

    def note_file(self, number: int) -> None:
        """Remember that the program has handed a file over, by printing or returning it."""


class File:
    """A file: its `name`, `media_type` and `size` in bytes, and methods that read it.

    A program gets files from tools. It can pass one to a tool, and print or return one to hand it
    to the user.
    """

    __slots__ = ("_number", "_reader", "media_type", "name", "sha256", "size")

    def __init__(self, *_: Any, **__: Any) -> None:
        raise TypeError(
            "File() makes no file: files come from tools. Give a tool that takes a file a text,"
            " or a File that another tool returned."
        )

    def read_bytes(self) -> bytes:
        """Return all bytes."""
        return b"".join(self._pieces())

    def read_text(self, encoding: str | None = None) -> str:
        """Return the whole text."""
        return "".join(self._texts(encoding))

    def lines(self, encoding: str | None = None) -> Sequential:
        """Return the lines of the text without their ends. They are read as they are needed."""
        return Sequential(lambda: _iter_lines(self._texts(encoding)))

    def rows(self, delimiter: str | None = None, encoding: str | None = None) -> Sequential:
        """Return the rows of CSV, each as a dict with the columns of the first line as keys.

        They are read as they are needed. Without a delimiter, the first line tells it.
        """
        return Sequential(lambda: self._iter_rows(delimiter, encoding))

    def json(self) -> Any:
        """Return the value of the JSON in the file."""
        return json.loads(self.read_text())

    def open(self) -> io.BufferedReader:
        """Return a binary stream for modules that read one, such as `zipfile`."""
        return io.BufferedReader(_Stream(self), _STEP)

    def __getitem__(self, key: Any) -> Any:
        raise TypeError(self._advice(f"has no item {key!r}"))

    def __iter__(self) -> Iterator[str]:
        raise TypeError(self._advice("cannot be iterated"))

    def __len__(self) -> int:
        raise TypeError(self._advice("has no len()"))

    def __bool__(self) -> bool:
        return True

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(self._advice(f"has no attribute {name!r}"))

    def _advice(self, problem: str) -> str:
        """Return the message about a use of the file that does not work."""
        why = " (a response over limits.max_response_mb comes as a File)"
        why = why if self.media_type.endswith("json") else ""
        return (
            f"the File {self!r} {problem}{why}: it has name, media_type and size, and is read with"
            " read_text(), lines(), rows() of CSV, json() or read_bytes()"
        )

    def __str__(self) -> str:
        self._reader.note_file(self._number)
        return repr(self)

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __repr__(self) -> str:
        return f"{self.name} ({self.media_type}, {self.size:,} bytes)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, File) and self.sha256 == other.sha256

    def __hash__(self) -> int:
        return hash(self.sha256)

    def _pieces(self) -> Iterator[bytes]:
        start = 0
        while piece := self._reader.read_file(self._number, start, _STEP):
            yield piece
            start += len(piece)

    def _texts(self, encoding: str | None) -> Iterator[str]:
        """Yield the text in pieces.

        Raises:
            ValueError: the bytes are not text.
        """
        pieces = self._pieces()
        first = next(pieces, b"")
        decoder = codecs.getincrementaldecoder(encoding or self._encoding(first))()
        try:
            yield decoder.decode(first)
            for piece in pieces:
                yield decoder.decode(piece)
            yield decoder.decode(b"", True)
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{self!r} is not text ({error.reason} in {error.encoding}): read_bytes() gives its"
                " bytes, and read_text(encoding) reads another encoding"
            ) from None

    def _encoding(self, beginning: bytes) -> str:
        """Return the encoding of the text: that of its byte order mark, else the declared one."""
        for mark, name in (
            (codecs.BOM_UTF8, "utf-8-sig"),
            (codecs.BOM_UTF16_LE, "utf-16"),
            (codecs.BOM_UTF16_BE, "utf-16"),
        ):
            if beginning.startswith(mark):
                return name
        declared = self.media_type.partition("charset=")[2]
        try:
            # Some codecs of Python, such as `zlib`, are none of texts.
            return declared if declared and "".encode(declared) == b"" else "utf-8"
        except (LookupError, TypeError, ValueError):
            return "utf-8"

    def _iter_rows(self, delimiter: str | None, encoding: str | None) -> Iterator[Row]:
        lines = _iter_lines(self._texts(encoding), keep_ends=True)
        first = next(lines, "")
        if delimiter is None:
            delimiter = max(_DELIMITERS, key=first.count)
        yield from csv.DictReader(_chain(first, lines), delimiter=delimiter)

    def preview(self) -> dict[str, Any]:
        """Return what `look` shows: the description, and the first lines of a text."""
        shown: dict[str, Any] = {
            "name": self.name,
            "media_type": self.media_type,
            "size": self.size,
        }
        try:
            beginning = self._reader.read_file(self._number, 0, _STEP)
            # The last character of the piece may be incomplete.
            decoder = codecs.getincrementaldecoder(self._encoding(beginning))()
            text = decoder.decode(beginning)
        except (OSError, ValueError):
            return shown
        if text and "\0" not in text:
            shown["first_lines"] = text[:_SHOWN_CHARACTERS].splitlines()[:_SHOWN_LINES]
        return shown


File.__module__ = "builtins"


class Sequential:
    """Items that are read from a file each time they are iterated. It can be used like a list."""

    def __init__(self, read: Callable[[], Iterator[Any]]) -> None:
        self._read = read
        self._count: int | None = None

    def __iter__(self) -> Iterator[Any]:
        return self._read()

    def __len__(self) -> int:
        if self._count is None:
            self._count = sum(1 for _ in self._read())
        return self._count

    def __bool__(self) -> bool:
        return next(self._read(), self) is not self

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            ends = (key.start or 0, 0 if key.stop is None else key.stop, key.step or 1)
            if min(ends) < 0:
                return list(self._read())[key]
            return list(islice(self._read(), key.start, key.stop, key.step))
        if key < 0:
            return list(self._read())[key]
        for item in islice(self._read(), key, None):
            return item
        raise IndexError("list index out of range")

    def __repr__(self) -> str:
        return repr(list(self._read()))


class _Stream(io.RawIOBase):
    """A binary stream over a file that the host has."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0, /) -> int:
        base = (0, self._at, self._file.size)[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: Any) -> int:
        file = self._file
        size = min(len(buffer), _STEP)
        data = file._reader.read_file(file._number, self._at, size)  # noqa: SLF001
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


_HOLDERS = frozenset({File, list, tuple, set, dict})
"""Types of values that are files, or may hold some."""


def make_file(reader: Reader, number: int, described: dict[str, Any]) -> File:
    """Return the file with this number, from the description that the host has sent."""
    file = object.__new__(File)
    file._reader = reader  # type: ignore[attr-defined]
    file._number = number  # type: ignore[attr-defined]
    for name in ("name", "media_type", "size", "sha256"):
        setattr(file, name, described[name])
    return file


def place_files(reader: Reader, value: Any, files: list[Any]) -> Any:
    """Return a value with its files in their places. `files` are pairs: a path, and a number."""
    for path, number in files:
        if not path:
            return make_file(reader, number, value)
        within = value
        for step in path[:-1]:
            within = within[step]
        within[path[-1]] = make_file(reader, number, within[path[-1]])
    return value


def take_files(value: Any, levels: int = 40) -> tuple[Any, list[Any]]:
    """Return an argument without its files, and a pair of path and number for each of them.

    The value itself is not changed. Files more than `levels` levels deep are left in it.
    """
    if type(value) is File:
        return None, [[[], value._number]]  # noqa: SLF001
    if type(value) in (list, tuple) and levels:
        parts = [take_files(item, levels - 1) for item in value]
        files = _files_below(enumerate(parts))
        return ([part for part, _ in parts], files) if files else (value, files)
    if type(value) is dict and levels:
        named = {key: take_files(item, levels - 1) for key, item in value.items()}
        files = _files_below(named.items())
        return ({key: part for key, (part, _) in named.items()}, files) if files else (value, files)
    return value, []


def _files_below(parts: Iterable[tuple[Any, tuple[Any, list[Any]]]]) -> list[Any]:
    """Return the pairs of path and number for the files in the parts of a list or dict.

    `parts` has pairs of a key or index and the result of `take_files` for the part.
    """
    files: list[Any] = []
    for key, (_, found) in parts:
        files += [[[key, *path], number] for path, number in found]
    return files


def note_files(value: Any) -> None:
    """Remember the files in a value that the program prints or returns.

    A part that occurs several times is visited once, since a small value may be very large as text.
    """
    visited: set[int] = set()
    waiting = [value]
    while waiting and len(visited) < _MOST_VISITED:
        part = waiting.pop()
        if type(part) is File:
            part._reader.note_file(part._number)  # noqa: SLF001
        elif type(part) in (list, tuple, set, dict) and id(part) not in visited:
            visited.add(id(part))
            items = part.values() if type(part) is dict else part
            waiting += [item for item in items if type(item) in _HOLDERS]


def _iter_lines(texts: Iterator[str], *, keep_ends: bool = False) -> Iterator[str]:
    """Yield the lines of a text that comes in pieces. They end as in text files of any system."""
    held = ""
    for text in texts:
        held += text
        ready, held = _whole_lines(held)
        for line in ready:
            yield line if keep_ends else line.rstrip("\r\n")
    for line in io.StringIO(held, newline=""):
        yield line if keep_ends else line.rstrip("\r\n")


def _whole_lines(text: str) -> tuple[list[str], str]:
    """Return the complete lines at the beginning of a text, and the rest."""
    end = max(text.rfind("\n"), text.rfind("\r", 0, -1)) + 1
    return list(io.StringIO(text[:end], newline="")), text[end:]


def _chain(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest
