"""The files of stored runs: bodies that programs got as files, in pieces beside the calls.

The bytes are deleted together with the run, and earlier if the setting `keep_days` says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from atc.store.run_rows import Database
from protocols.files import PIECE_BYTES, FileContent, FileInfo, FileMissing, FileValue

KEEP_DAYS = 30.0
"""Default number of days after which the files of a run are deleted."""
TABLE = """
CREATE TABLE {} files (
    run text NOT NULL REFERENCES runs ON DELETE CASCADE, sha256 text NOT NULL,
    piece integer NOT NULL, bytes bytea NOT NULL, PRIMARY KEY (run, sha256, piece)
)
"""
_ADD = "INSERT INTO files VALUES (?, ?, ?, ?) ON CONFLICT (run, sha256, piece) DO NOTHING"
_PIECE = "SELECT bytes FROM files WHERE run = ? AND sha256 = ? AND piece = ?"
_PIECES_AT_ONCE = 16
"""Number of pieces that one transaction writes, so that no other writer waits for long."""

Transaction = Callable[..., AbstractContextManager[Database]]
"""Opens a transaction, see `RunStore._transaction`."""


@dataclass(frozen=True, slots=True)
class StoredFiles:
    """The files of one run, keyed by their SHA-256. A run can read its own files only."""

    transaction: Transaction
    run: str

    def add(self, file: FileValue) -> None:
        """Store the bytes of a file, unless they are stored already."""
        digest = file.info.sha256
        last = max(0, (file.info.size - 1) // PIECE_BYTES)
        with self.transaction(writing=False) as db:
            if db.execute(_PIECE, (self.run, digest, last)).fetchone() is not None:
                return  # the pieces were written in order
        for first in range(0, last + 1, _PIECES_AT_ONCE):
            with self.transaction(self.run) as db:
                for piece in range(first, min(first + _PIECES_AT_ONCE, last + 1)):
                    data = _read_piece(file.content, piece * PIECE_BYTES)
                    db.execute(_ADD, (self.run, digest, piece, data))

    def content(self, info: FileInfo) -> FileContent:
        """Return the bytes of a file of this run. Reading raises `FileMissing` without them."""
        return _StoredContent(self, info)


@dataclass(frozen=True, slots=True)
class _StoredContent:
    """The bytes of one stored file."""

    files: StoredFiles
    info: FileInfo

    def read(self, start: int, size: int) -> bytes:
        """Return up to `size` bytes from the position `start`; b"" after the end.

        Raises:
            FileMissing: they are not stored any more.
        """
        if not 0 <= start < self.info.size:
            return b""
        piece, offset = divmod(start, PIECE_BYTES)
        with self.files.transaction(writing=False) as db:
            row = db.execute(_PIECE, (self.files.run, self.info.sha256, piece)).fetchone()
        if row is None:
            raise FileMissing(self.info.name)
        return bytes(row["bytes"][offset : offset + size])


def drop_old_files(db: Database, days: float) -> None:
    """Delete the files of all runs that began more than `days` days ago.

    The id of a run begins with the time at which the run began.
    """
    before = time.strftime("%Y%m%d-%H%M%S", time.gmtime(time.time() - days * 86_400))
    db.execute("DELETE FROM files WHERE run < ?", (before,))


def _read_piece(content: FileContent, start: int) -> bytes:
    """Return the bytes of one piece, which a content may return in several steps."""
    data = b""
    while len(data) < PIECE_BYTES:
        more = content.read(start + len(data), PIECE_BYTES - len(data))
        if not more:
            break
        data += more
    return data
