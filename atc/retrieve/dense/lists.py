"""Inverted lists over many vectors (faiss): which documents may be the nearest, in a small part of the time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from atc.retrieve.base import RetrievalUnavailable
from atc.retrieve.needs import require

if TYPE_CHECKING:
    from atc.retrieve.base import Floats, Positions

_TRAINED_ROWS = 50
"""Vectors a list that its centre is learnt from; faiss warns below 39."""
_ROUNDS = 10
"""Of k-means; faiss' 25 take most of the time of a build and find no better lists to speak of."""
_ADDED_ROWS = 65_536
_PROBED_SHARE = 4
"""One list of so many is read for a query: a query is less like the documents than they are like each other, so fewer
miss too much. Of a million documents it takes some milliseconds."""


class Lists:
    """Vectors grouped around centres, four bits for two numbers; a query reads the lists whose centres are near it.

    That is a 16th of the vectors in memory, and enough to choose candidates by, which true cosines put in order.
    """

    def __init__(self, index: Any) -> None:
        self._index = index
        index.nprobe = max(16, index.nlist // _PROBED_SHARE)
        self.rows: int = index.ntotal
        self.dimensions: int = index.d

    @classmethod
    def build(cls, vectors: Any, *, seed: int = 0) -> Lists:
        """Lists over `vectors`, shape (rows, dimensions), float16 or float32, which may lie on disk.

        Raises:
            RetrievalUnavailable: faiss is not installed.
        """
        require(f"an index of {len(vectors):,} tools", "faiss")
        import faiss

        rows, dimensions = vectors.shape
        count = max(1, min(2 ** round(np.log2(2 * rows**0.5)), rows // _TRAINED_ROWS))  # 2,048 lists for a million
        pieces = dimensions // 2 if dimensions % 2 == 0 else dimensions
        index: Any = faiss.index_factory(dimensions, f"IVF{count},PQ{pieces}x4fs", faiss.METRIC_INNER_PRODUCT)
        index.cp.niter = index.pq.cp.niter = _ROUNDS
        sample = np.random.default_rng(seed).choice(rows, min(rows, count * _TRAINED_ROWS), replace=False)
        index.train(np.asarray(vectors[np.sort(sample)], np.float32))
        for start in range(0, rows, _ADDED_ROWS):
            index.add(np.asarray(vectors[start : start + _ADDED_ROWS], np.float32))
        return cls(index)

    @classmethod
    def open(cls, path: Path) -> Lists:
        """Lists from a file, read into memory.

        Raises:
            RetrievalUnavailable: faiss is not installed, or the file is not one of lists.
        """
        require("an index of this size", "faiss")
        import faiss

        try:
            return cls(faiss.read_index(str(path)))
        except (RuntimeError, AttributeError) as error:
            raise RetrievalUnavailable(
                f"the index file {str(path)!r} is damaged (faiss cannot read it); build it anew."
            ) from error

    def save(self, path: Path) -> None:
        """Write the lists to a file."""
        import faiss

        faiss.write_index(self._index, str(path))

    def candidates(self, vectors: Floats, *, n: int) -> list[Positions]:
        """For each row of `vectors` the positions of about the `n` nearest, in no order that counts."""
        found = self._index.search(np.ascontiguousarray(vectors, np.float32), n)[1]
        return [row[row >= 0] for row in found]
