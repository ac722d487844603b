"""Files: bodies that a program gets as an object, instead of as JSON or text.

On the host a file is a `FileValue`: a dict with its description, which can be stored and shown like
any JSON, and the place of its bytes. Only the host makes one, so no JSON of a service can pass for
a file. The bytes are never in memory as a whole.
"""

from __future__ import annotations

import hashlib
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, Protocol, Self

from protocols.call_limits import MAX_FILE_MB, MEGABYTE
from protocols.errors import AtcError
from protocols.file_names import OCTETS, is_text_type, sniffed_type
from protocols.schema import Json

PIECE_BYTES = 256 * 1024
"""Maximum number of bytes of a file that are read or written in one step."""
MAX_FILE_BYTES = round(MAX_FILE_MB * MEGABYTE)
"""Default of the maximum size of one file."""
_IN_MEMORY = 1 << 20
"""A smaller body is not written to the disk until it is stored."""

FilePath = tuple[str | int, ...]
"""The keys and indexes that lead to a file in a JSON value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInfo:
    """The description of a file: a safe name, its media type, size in bytes and SHA-256."""

    name: str
    media_type: str
    size: int
    sha256: str

    @property
    def is_text(self) -> bool:
        """True if the media type is one of texts."""
        return is_text_type(self.media_type)

    def __str__(self) -> str:
        return f"{self.name} ({self.media_type}, {self.size:,} bytes)"

    @classmethod
    def read(cls, described: Json) -> Self | None:
        """Return the file that a JSON value describes, or None if it describes no file."""
        match described:
            case {
                "name": str(name),
                "media_type": str(media_type),
                "size": int(size),
                "sha256": str(sha256),
            }:
                return cls(name=name, media_type=media_type, size=size, sha256=sha256)
        return None


class FileMissing(AtcError):
    """Raised if the bytes of a file are not stored any more, or never were."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return (
            f"the bytes of {self.name!r} are not stored: files are removed with their run, and"
            " after 'keep_days'; run the task again to get them"
        )


class FileTooLarge(AtcError):
    """Raised if a file has more bytes than allowed. `limit` is the number of bytes."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.limit = limit

    def __str__(self) -> str:
        return (
            f"the body is over {self.limit / MEGABYTE:,g} MB, the most that a file may have: ask"
            " for less, or raise limits.max_file_mb"
        )


class FileContent(Protocol):
    """The bytes of one file."""

    def read(self, start: int, size: int) -> bytes:
        """Return up to `size` bytes from the position `start`; b"" after the end.

        Raises:
            FileMissing: they are not stored any more.
        """


class FileStore(Protocol):
    """The storage for the files of one run. Each file is found by its SHA-256."""

    def add(self, file: FileValue) -> None:
        """Store the bytes of a file, unless they are stored already."""

    def content(self, info: FileInfo) -> FileContent:
        """Return the bytes of a stored file. Reading raises `FileMissing` if they are not there."""


class FileValue(dict[str, Json]):
    """A file in the arguments or the result of a call: its description as JSON, and its bytes.

    A copy that code for JSON makes of it (`type(value)(pairs)`) is a plain dict, and no file.
    """

    def __new__(cls, *given: Any) -> Any:
        """Return a new file; a plain dict if the first argument is no `FileInfo`."""
        return super().__new__(cls) if isinstance(given[0], FileInfo) else dict(*given)

    def __init__(self, info: FileInfo, content: FileContent) -> None:
        super().__init__(
            name=info.name, media_type=info.media_type, size=info.size, sha256=info.sha256
        )
        self.info = info
        self.content = content

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the description only: the bytes stay where they are."""
        return dict, (dict(self),)

    def pieces(self) -> Iterator[bytes]:
        """Yield the bytes of the file in pieces of at most 256 KiB."""
        start = 0
        while piece := self.content.read(start, PIECE_BYTES):
            yield piece
            start += len(piece)

    def whole(self) -> bytes:
        """Return all bytes of the file."""
        return b"".join(self.pieces())


class Spool:
    """Receives the bytes of a new file. Beyond 1 MiB, they lie in an unnamed file on the disk.

    As the content of a `FileValue` it can be read by several threads.
    """

    def __init__(self, *, most_bytes: int = MAX_FILE_BYTES) -> None:
        self._file: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115
        self._most = most_bytes
        self._digest = hashlib.sha256()
        self._lock = threading.Lock()
        self.size = 0

    def __del__(self) -> None:
        self._file.close()

    def write(self, data: bytes) -> None:
        """Add bytes to the end.

        Raises:
            FileTooLarge: the file would have more than `most_bytes`.
        """
        self.size += len(data)
        if self.size > self._most:
            self._file.close()
            raise FileTooLarge(self._most)
        self._digest.update(data)
        self._file.write(data)

    def read(self, start: int, size: int) -> bytes:
        """Return up to `size` bytes from the position `start`."""
        with self._lock:
            self._file.seek(start)
            return self._file.read(size)

    def finish(self, name: str, media_type: str = "") -> FileValue:
        """Return the file. `name` must be safe. Without a media type, the first bytes tell it."""
        found = media_type
        if found in ("", OCTETS):
            found = sniffed_type(self.read(0, 16)) or OCTETS
        info = FileInfo(
            name=name, media_type=found, size=self.size, sha256=self._digest.hexdigest()
        )
        return FileValue(info, self)


def file_of_bytes(
    data: bytes, name: str, media_type: str = "", *, most_bytes: int = MAX_FILE_BYTES
) -> FileValue:
    """Return a file with these bytes. `name` must be safe.

    Raises:
        FileTooLarge: there are more than `most_bytes`.
    """
    spool = Spool(most_bytes=most_bytes)
    spool.write(data)
    return spool.finish(name, media_type)


class TemporaryFiles:
    """The files of a run that is not stored. They are gone with this object."""

    def __init__(self) -> None:
        self._contents: dict[str, FileContent] = {}

    def add(self, file: FileValue) -> None:
        """Keep the bytes of a file."""
        self._contents.setdefault(file.info.sha256, file.content)

    def content(self, info: FileInfo) -> FileContent:
        """Return the bytes of a file that was added."""
        return self._contents.get(info.sha256) or _MissingContent(info.name)


class _MissingContent:
    """The content of a file whose bytes are not there."""

    def __init__(self, name: str) -> None:
        self._name = name

    def read(self, start: int, size: int) -> bytes:  # noqa: ARG002 - of every content
        raise FileMissing(self._name)


def files_in(value: Json) -> dict[FilePath, FileValue]:
    """Return the files in a value of the host, keyed by their path."""
    found: dict[FilePath, FileValue] = {}
    stack: list[tuple[Json, FilePath]] = [(value, ())]
    while stack:
        part, path = stack.pop()
        if isinstance(part, FileValue):
            found[path] = part
        elif isinstance(part, dict):
            stack += [(item, (*path, key)) for key, item in part.items() if _may_hold(item)]
        elif isinstance(part, list | tuple):
            stack += [(item, (*path, n)) for n, item in enumerate(part) if _may_hold(item)]
    return dict(sorted(found.items(), key=lambda one: [*map(str, one[0])]))


def _may_hold(value: Any) -> bool:
    return isinstance(value, dict | list | tuple)


def described_at(value: Json, path: Sequence[str | int]) -> FileInfo | None:
    """Return the description of a file at a path of a recorded value, or None if none is there."""
    for step in path:
        if isinstance(value, Mapping) and step in value:
            value = value[str(step)]
        elif isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
            value = value[step]
        else:
            return None
    return FileInfo.read(value)


def replaced_at(value: Json, path: Sequence[str | int], new: Json) -> Json:
    """Return a copy of a value with another one at a path, which must exist.

    Raises:
        LookupError: there is no such path.
    """
    if not path:
        return new
    first = path[0]
    rest = path[1:]
    if isinstance(value, Mapping) and first in value:
        return {**value, str(first): replaced_at(value[str(first)], rest, new)}
    if isinstance(value, list) and isinstance(first, int) and 0 <= first < len(value):
        return [*value[:first], replaced_at(value[first], rest, new), *value[first + 1 :]]
    raise LookupError(first)
