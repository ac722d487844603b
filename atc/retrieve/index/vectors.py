"""Vectors on their way into a segment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from atc.retrieve.embed import Embedder
from atc.retrieve.index.embedded import FILE, Embedded

if TYPE_CHECKING:
    from atc.retrieve.dense import Dense

_EMBEDDED_AT_ONCE = 512
_COPIED_AT_ONCE = 1 << 16


class VectorsWriter:
    """Collects a row for each document, in a file of float32 where one is named: a million do not fit in memory.

    The file lies in the folder of a segment, and beside that what is left of one that did not become whole.
    """

    def __init__(self, embedder: Embedder, path: Path | None, known: Mapping[str, Any]) -> None:
        """`known`: rows by digest that need not be made again."""
        self.embedder = embedder
        self._known = known
        self._file = None if path is None else path.open("xb")
        self._kept = None if path is None else Embedded(path.parent.parent / FILE, embedder.name)
        self._rows: list[Any] = []
        self._waiting: list[tuple[str, str]] = []
        self._width = 0

    def copy(self, rows: Any) -> None:
        """Rows that were made before."""
        for start in range(0, len(rows), _COPIED_AT_ONCE):
            self._write(np.asarray(rows[start : start + _COPIED_AT_ONCE], dtype=np.float32))

    def add(self, digest: str, text: str) -> None:
        """The row of one more document, by its digest, or else made of its text.

        Raises:
            RetrievalUnavailable: the embedding model cannot be had.
        """
        self._waiting.append((digest, text))
        if len(self._waiting) == _EMBEDDED_AT_ONCE:
            self._embed()

    def finish(self, like: Dense | None) -> Any:
        """All rows, shape (documents, dimensions); without any, those of `like` say how long one would be."""
        self._embed()
        if not self._width:
            return np.zeros((0, self.embedder.dimensions if like is None else like.vectors.shape[1]), dtype=np.float32)
        if self._file is None:
            return np.concatenate(self._rows)
        self._file.close()
        return np.memmap(self._file.name, dtype=np.float32, mode="r").reshape(-1, self._width)

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()

    def _embed(self) -> None:
        made = iter(self._made([text for digest, text in self._waiting if digest not in self._known]))
        rows = [self._known[digest] if digest in self._known else next(made) for digest, _ in self._waiting]
        self._waiting = []
        if rows:
            self._write(np.stack(rows).astype(np.float32))

    def _made(self, texts: Sequence[str]) -> list[Any]:
        """The row of each text; what is left of a segment that did not become whole is used."""
        rows = [None] * len(texts) if self._kept is None else self._kept.rows(texts)
        if missing := [place for place, row in enumerate(rows) if row is None]:
            asked = [texts[place] for place in missing]
            made = self.embedder.documents(asked)
            if self._kept is not None and len(asked) == _EMBEDDED_AT_ONCE:  # fewer are soon made again
                self._kept.add(asked, made)
            for place, row in zip(missing, made, strict=True):
                rows[place] = row
        return rows

    def _write(self, rows: Any) -> None:
        self._width = rows.shape[1]
        if self._file is None:
            self._rows.append(rows)
        else:
            self._file.write(rows.tobytes())
