"""Where expansions are kept: one SQLite file beside the index, so that a document is expanded once."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from atc.retrieve.base import RetrievalUnavailable
from atc.retrieve.document import ToolDocument

FILE = "expansions.sqlite"
_VERSION = 1
_BUSY_SECONDS = 30.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS expansions (
    document TEXT NOT NULL, kind TEXT NOT NULL, prompt TEXT NOT NULL, model TEXT NOT NULL, sample INTEGER NOT NULL,
    texts TEXT NOT NULL, PRIMARY KEY (document, kind, prompt, model, sample)
) STRICT;
CREATE TABLE IF NOT EXISTS vectors (text BLOB PRIMARY KEY, vector BLOB NOT NULL) STRICT, WITHOUT ROWID;
"""
_MOST_VARIABLES = 500


class Expansions:
    """What models have written about documents, in `folder` (None: in memory, gone with the process).

    Kept under the document's digest, the kind, the prompt's version and the model's name: when a document changes,
    it alone is expanded again. Each reply is written down before the next is asked for. Several threads and processes
    may use one folder at once.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._path = folder / FILE if folder is not None else None
        self._lock = threading.Lock()
        try:
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(
                self._path or ":memory:", timeout=_BUSY_SECONDS, check_same_thread=False, isolation_level=None
            )
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(error) from error
        try:
            (version,) = self._database.execute("PRAGMA user_version").fetchone()
            if version not in (0, _VERSION):
                raise sqlite3.DatabaseError(f"it is of version {version}, this is version {_VERSION}")
            self._database.executescript(_SCHEMA)
            self._database.execute(f"PRAGMA user_version = {_VERSION}")
        except sqlite3.Error as error:
            self._database.close()
            raise self._unusable(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __len__(self) -> int:
        """How many documents have any."""
        [(count,)] = self._rows("SELECT count(DISTINCT document) FROM expansions WHERE texts != '[]'", ())
        return int(count)

    @staticmethod
    def stands(folder: Path) -> bool:
        """Whether expansions were kept in `folder`."""
        return (folder / FILE).is_file()

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def texts(
        self, document: ToolDocument, kinds: Sequence[str] = ("queries",), *, most: int | None = None
    ) -> tuple[str, ...]:
        """What was written about a document as it now is, of each kind at most `most` texts.

        Where several models or prompts have written, the set with most replies counts, the newest of equal ones.
        """
        found: list[str] = []
        for kind in kinds:
            sets: dict[tuple[str, str], list[str]] = {}
            sizes: dict[tuple[str, str], tuple[int, int]] = {}
            for row, prompt, model, texts in self._rows(
                "SELECT rowid, prompt, model, texts FROM expansions WHERE document = ? AND kind = ? ORDER BY sample",
                (document.digest, kind),
            ):
                key = (prompt, model)
                sets.setdefault(key, []).extend(json.loads(texts))
                replies, newest = sizes.get(key, (0, 0))
                sizes[key] = (replies + 1, max(newest, row))
            if sets:
                found += sets[max(sizes, key=sizes.__getitem__)][:most]
        return tuple(found)

    def samples(self, document: ToolDocument, *, kind: str, prompt: str, model: str) -> dict[int, tuple[str, ...]]:
        """The replies kept under these keys, by their number."""
        rows = self._rows(
            "SELECT sample, texts FROM expansions WHERE document = ? AND kind = ? AND prompt = ? AND model = ?",
            (document.digest, kind, prompt, model),
        )
        return {sample: tuple(json.loads(texts)) for sample, texts in rows}

    def keep(
        self, document: ToolDocument, texts: Sequence[str], *, kind: str, prompt: str, model: str, sample: int
    ) -> None:
        """Write down one reply; an empty one says that the model had nothing of use to say."""
        self._rows(
            "INSERT OR REPLACE INTO expansions VALUES (?, ?, ?, ?, ?, ?)",
            (document.digest, kind, prompt, model, sample, json.dumps(list(texts), ensure_ascii=False)),
        )

    def vectors(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The embeddings kept under these keys, see `atc.retrieve.expand.vectors`."""
        found: dict[bytes, bytes] = {}
        for start in range(0, len(keys), _MOST_VARIABLES):
            part = keys[start : start + _MOST_VARIABLES]
            marks = ", ".join("?" * len(part))
            found.update(self._rows(f"SELECT text, vector FROM vectors WHERE text IN ({marks})", part))  # noqa: S608
        return found

    def keep_vectors(self, vectors: Mapping[bytes, bytes]) -> None:
        """Write down embeddings, all or none."""
        with self._lock:
            try:
                self._database.execute("BEGIN IMMEDIATE")
                self._database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", list(vectors.items()))
                self._database.execute("COMMIT")
            except sqlite3.Error as error:
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise self._unusable(error) from error

    def _rows(self, statement: str, values: Sequence[Any]) -> list[Any]:
        with self._lock:
            try:
                return self._database.execute(statement, values).fetchall()
            except sqlite3.Error as error:
                raise self._unusable(error) from error

    def _unusable(self, error: Exception) -> RetrievalUnavailable:
        return RetrievalUnavailable(
            f"the expansions in {str(self._path)!r} cannot be used: {error}; free the file or the disk, or delete"
            " the file to have every tool expanded again."
        )
