"""Vectors of a segment that is not whole yet: where its making ends early, the next one need not ask for them again."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np

FILE = "embedded.sqlite"


class Embedded:
    """Rows of float32 by embedder and text, in a file beside the segments. Only the process that writes uses it."""

    def __init__(self, path: Path, embedder: str) -> None:
        self._path, self._embedder = path, embedder

    def rows(self, texts: Sequence[str]) -> list[Any | None]:
        """The row of each text, None where it is not kept."""
        rows: list[Any | None] = [None] * len(texts)
        if not self._path.exists():
            return rows
        with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(self._path)) as db:
            for place, text in enumerate(texts):
                found = db.execute("SELECT vector FROM embedded WHERE key = ?", (self._key(text),)).fetchone()
                rows[place] = found and np.frombuffer(found[0], dtype="<f4")
        return rows

    def add(self, texts: Sequence[str], rows: Any) -> None:
        """Keep the row of each text."""
        kept = [(self._key(text), row.astype("<f4").tobytes()) for text, row in zip(texts, rows, strict=True)]
        try:
            with closing(sqlite3.connect(self._path)) as db, db:
                db.execute("CREATE TABLE IF NOT EXISTS embedded (key BLOB PRIMARY KEY, vector BLOB NOT NULL)")
                db.executemany("INSERT OR REPLACE INTO embedded VALUES (?, ?)", kept)
        except sqlite3.DatabaseError:  # damaged, or the disk is full: the segment itself will say so
            self._path.unlink(missing_ok=True)

    def _key(self, text: str) -> bytes:
        said = f"{self._embedder}\n{text}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(said).digest()[:16]
