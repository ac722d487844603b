"""A file of JSON Lines that one process at a time continues: a header and then a row a line."""

from __future__ import annotations

import fcntl
import json
import os
import stat
from pathlib import Path
from typing import Self

from protocols.errors import AtcError
from protocols.jsontypes import Json


class InvalidRunFile(AtcError):
    """The file of a run cannot be used or continued. Says what stands in it and what to do."""

    exit_code = 2


class LineFile:
    """An open file of lines, locked against other processes; `whole` is what it held, without a last line that a
    killed run left half-written.

    `synced` lines are on disk when `write` returns; others outlive this process, but not a power cut.

    Raises:
        InvalidRunFile: it is locked, no regular file, or cannot be written.
    """

    def __init__(self, path: Path, *, synced: bool) -> None:
        self.path, self._synced = path, synced
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise InvalidRunFile(f"cannot write {str(path)!r}: {error.strerror}; give another --out.") from error
        try:
            self._lock()
            self.content = path.read_bytes()
            self.whole = self.content[: self.content.rfind(b"\n") + 1]
        except BaseException:
            self.close()
            raise

    def keep(self, content: bytes) -> None:
        """Let the file hold nothing but `content`, with which it begins: all its whole lines, or none."""
        os.ftruncate(self._descriptor, len(content))

    def write(self, document: Json) -> None:
        """Add a line.

        Raises:
            InvalidRunFile: the disk is full, or fails.
        """
        line = json.dumps(document, default=repr, ensure_ascii=False).encode(errors="backslashreplace") + b"\n"
        try:
            os.lseek(self._descriptor, 0, os.SEEK_END)
            while line:
                line = line[os.write(self._descriptor, line) :]
            if self._synced:
                os.fsync(self._descriptor)
        except OSError as error:
            raise InvalidRunFile(
                f"cannot write {str(self.path)!r}: {error.strerror}; make room and run the same command again."
            ) from error

    def close(self) -> None:
        """Close and unlock the file."""
        os.close(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _lock(self) -> None:
        if not stat.S_ISREG(os.fstat(self._descriptor).st_mode):
            raise InvalidRunFile(f"{str(self.path)!r} is no regular file; give another --out.")
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InvalidRunFile(
                f"another process is writing {str(self.path)!r}; wait for it, or give another --out."
            ) from None


def read_lines(path: Path, *, advice: str) -> bytes:
    """The whole lines of a run's file.

    Raises:
        InvalidRunFile: it cannot be read; `advice` is the next step.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidRunFile(f"cannot read {str(path)!r}: {error.strerror}; {advice}") from error
    return content[: content.rfind(b"\n") + 1]


def differences(found: dict[str, Json], wanted: dict[str, Json]) -> list[str]:
    """`model was 'a', is 'b'` for each setting that differs between two headers."""
    return [
        f"{key} was {found.get(key)!r}, is {wanted.get(key)!r}"
        for key in {**found, **wanted}
        if found.get(key) != wanted.get(key)
    ]
