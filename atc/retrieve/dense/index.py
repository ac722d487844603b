"""`Dense`: a ranker by cosine over the vectors of documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from atc.retrieve import embedders
from atc.retrieve.base import Ranked, RetrievalUnavailable, View
from atc.retrieve.best import best
from atc.retrieve.dense import files
from atc.retrieve.dense.lists import Lists
from atc.retrieve.embed import Embedder
from atc.retrieve.embedders.distinct import of_length_one
from atc.retrieve.embedders.recent import Recent

if TYPE_CHECKING:
    from atc.retrieve.base import Floats, Positions

_EMBEDDED_TEXTS = 512
"""Between two words to `watch`."""
_BLOCK_NUMBERS = 2**24
"""Of a matrix held at a time: 64 MB."""
_CANDIDATES = 200
"""At least so many come from the inverted lists; their order is by 8-bit numbers and is made anew by the true ones."""


class Dense:
    """A ranker over documents by the cosine of their vectors with a view's. Built once, then only read; thread-safe.

    `names` has a name for each row of `vectors` (documents, dimensions), float16 or float32, rows of length one, which
    `embedder` made. Every document is compared with a query unless `lists` choose which.

    Raises:
        ValueError: names and vectors differ in number.
    """

    def __init__(self, names: Sequence[str], vectors: Any, embedder: Embedder, *, lists: Lists | None = None) -> None:
        if len(names) != len(vectors):
            raise ValueError(f"{len(names)} names for {len(vectors)} vectors")
        small = len(vectors) <= files.EXACT_ROWS
        self.names, self.embedder = names, embedder
        self.vectors = np.asarray(vectors, np.float32) if small else vectors
        self._lists = lists
        self._embedded = Recent(lambda texts: self.embedder.queries(texts))

    @classmethod
    def build(
        cls,
        names: Sequence[str],
        texts: Iterable[str],
        embedder: Embedder,
        *,
        watch: Callable[[int, int], None] | None = None,
    ) -> Dense:
        """Embed the text of each name, in memory; `watch` is told the texts that are done and all of them.

        Raises:
            RetrievalUnavailable: the embedder cannot be had.
        """
        blocks, done, rest = [], 0, iter(texts)
        while block := list(islice(rest, _EMBEDDED_TEXTS)):
            blocks.append(embedder.documents(block))
            done += len(block)
            if watch is not None:
                watch(done, len(names))
        return cls(
            names, np.concatenate(blocks) if blocks else np.zeros((0, embedder.dimensions), np.float32), embedder
        )

    @classmethod
    def open(cls, folder: Path, *, names: Sequence[str], embedder: Embedder | None = None) -> Dense:
        """What `save` wrote, memory-mapped. Without `embedder` it is the one that made the vectors.

        Raises:
            RetrievalUnavailable: no index is there; it is damaged, of another version, for another number of names or
                made by another embedder; or its embedder cannot be had.
        """
        made_by, vectors, lists = files.load(folder)
        embedder = embedder or embedders.choose(made_by)
        if embedder.name != made_by:
            raise RetrievalUnavailable(
                f"the dense index in {str(folder)!r} was made with the embedder {made_by!r}, not {embedder.name!r};"
                " name that one or build the index anew."
            )
        if len(names) != len(vectors):
            raise RetrievalUnavailable(
                f"the dense index in {str(folder)!r} has {len(vectors):,} vectors for {len(names):,} tools;"
                " build it anew."
            )
        return cls(names, vectors, embedder, lists=lists)

    def save(self, folder: Path) -> None:
        """Write the vectors into `folder`, and inverted lists where there are many; the names are the caller's.

        Raises:
            RetrievalUnavailable: there are so many that faiss is needed, and it is not installed.
            OSError, CannotWrite: a file cannot be written.
        """
        files.save(folder, self.vectors, self.embedder.name)

    def __len__(self) -> int:
        return len(self.vectors)

    def embed(self, views: Sequence[View]) -> Floats:
        """A row of length one for each view, shape (views, dimensions); of several texts it is the mean's direction."""
        parts = [(view,) if isinstance(view, str) else view for view in views]
        texts = [text for part in parts for text in part]
        if not texts:
            return np.zeros((len(parts), self.vectors.shape[1]), np.float32)
        rows = iter(self._embedded(texts))
        sums = [sum(islice(rows, len(part)), np.zeros(self.vectors.shape[1], np.float32)) for part in parts]
        return of_length_one(np.stack(sums))

    def near(self, vectors: Floats, *, n: int) -> list[Ranked]:
        """For each row of `vectors` the `n` nearest documents; none for a zero row, which a blank text gives.

        Through inverted lists, some of the nearest may be missing, and of some hundred equal documents those that come
        are not the first by name.
        """
        if self._lists is None or n >= len(self) // 2:
            return [self._ranked(vector, scores, n) for vector, scores in self._compared(vectors)]
        found = self._lists.candidates(self._fitting(vectors), n=max(_CANDIDATES, 2 * n))
        return [
            self._ranked(vector, self.scores_of(vector[None], positions)[0], n, positions)
            for vector, positions in zip(vectors, found, strict=True)
        ]

    def scores_of(self, vectors: Floats, positions: Positions | None = None) -> Floats:
        """The cosine of each row of `vectors` with each document (or those at `positions`), shape (rows, documents)."""
        queries = self._fitting(vectors)
        if positions is not None:
            chosen: Floats = queries @ np.asarray(self.vectors[positions], np.float32).T
            return chosen
        if self.vectors.dtype == np.float32:
            compared: Floats = queries @ self.vectors.T
            return compared
        scores = np.empty((len(queries), len(self)), np.float32)
        step = max(1, _BLOCK_NUMBERS // max(1, self.vectors.shape[1]))
        for start in range(0, len(self), step):  # only so much is made float32 at a time
            block = np.asarray(self.vectors[start : start + step], np.float32)
            scores[:, start : start + step] = queries @ block.T
        return scores

    def top(self, views: Sequence[View], *, n: int) -> list[Ranked]:
        """For each view the `n` nearest documents, see `Ranker`."""
        return self.near(self.embed(views), n=n)

    def scores(self, views: Sequence[View], positions: Positions | None = None) -> Floats:
        """The cosine of each view with each document (or those at `positions`), see `Ranker`."""
        return self.scores_of(self.embed(views), positions)

    def _compared(self, vectors: Floats) -> Iterator[tuple[Floats, Floats]]:
        """Each vector with its scores over all documents, some vectors at a time."""
        step = max(1, _BLOCK_NUMBERS // max(1, len(self)))
        for start in range(0, len(vectors), step):
            block = vectors[start : start + step]
            yield from zip(block, self.scores_of(block), strict=True)

    def _ranked(self, vector: Floats, scores: Floats, n: int, positions: Positions | None = None) -> Ranked:
        return best(scores, self.names, n=n if vector.any() else 0, positions=positions)

    def _fitting(self, vectors: Floats) -> Floats:
        if vectors.shape[1] != self.vectors.shape[1]:
            raise RetrievalUnavailable(
                f"the index holds vectors of length {self.vectors.shape[1]}, the embedder {self.embedder.name!r} gives"
                f" {vectors.shape[1]}; build the index anew."
            )
        return vectors
