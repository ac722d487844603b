"""Dense retrieval: documents and queries are vectors, which are compared by their cosine.

An embedding model makes the vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from atc.pipeline.retrieve.base import Embedder, Floats, Positions, Ranking, View, require
from atc.pipeline.retrieve.embed import normalize_rows
from atc.pipeline.retrieve.fuse import select_best

EXACT_ROWS = 100_000
"""Maximum number of documents for which a query is compared with every document.

With 50,000 documents this takes 1 ms. For more documents, inverted lists select candidates.
"""
_BLOCK_ROWS = 65_536
"""Number of vectors that are read and converted to float32 at a time."""
_CANDIDATES = 200
"""Minimum number of candidates from the inverted lists.

The lists compare 4-bit codes; candidates are then ranked by their exact cosines.
"""
_TRAINED_ROWS = 50
"""Number of training vectors per inverted list. faiss warns below 39."""
_ROUNDS = 10
"""Iterations of k-means.

The default of faiss, 25, takes most of the build time and finds no noticeably better lists.
"""
_PROBED_SHARE = 4
"""A query reads only one of this many inverted lists.

Queries are less similar to documents than documents are to each other, so reading fewer lists
misses too much. With a million documents this takes a few milliseconds.
"""
_REMEMBERED = 256
"""Number of texts whose vectors are cached.

A search that fuses rankings embeds the same texts several times.
"""


class Dense:
    """A `Ranker` whose scores are cosines between a query's vector and the documents' vectors.

    It is read-only after construction, and thread-safe. `names` has a name for each row of
    `vectors` (documents, dimensions), which are float16 or float32 with rows of length one, made by
    `embedder`. Without `lists` (see `build_lists`), every document is compared with a query.

    Raises:
        ValueError: the numbers of names and vectors differ.
    """

    def __init__(
        self, names: Sequence[str], vectors: Any, embedder: Embedder, *, lists: Any = None
    ) -> None:
        if len(names) != len(vectors):
            raise ValueError(f"{len(names)} names for {len(vectors)} vectors")
        self.names = names
        self.embedder = embedder
        self._lists = lists
        self.vectors = np.asarray(vectors, np.float32) if len(vectors) <= EXACT_ROWS else vectors
        self._known: dict[str, Any] = {}
        if lists is not None:
            lists.nprobe = max(16, lists.nlist // _PROBED_SHARE)

    def embed(self, views: Sequence[View]) -> Floats:
        """Return a vector of length one for each of the queries `views`, shape (views, dimensions).

        A query of several texts gets the direction of the mean of their vectors.
        """
        parts = [(view,) if isinstance(view, str) else view for view in views]
        wanted = dict.fromkeys(text for part in parts for text in part)
        known = {text: self._known[text] for text in wanted if text in self._known}
        if new := [text for text in wanted if text not in known]:
            known |= zip(new, self.embedder.embed(new), strict=True)
            self._known = known if len(self._known) > _REMEMBERED else self._known | known
        zero = np.zeros(self.vectors.shape[1], np.float32)
        sums = [sum(map(known.__getitem__, part), zero) for part in parts]
        return normalize_rows(np.stack(sums)) if sums else np.zeros((0, len(zero)), np.float32)

    def near(self, vectors: Floats, *, n: int) -> list[Ranking]:
        """Return, for each row of `vectors`, the `n` nearest documents.

        A zero row (a blank text) has none. With inverted lists, some of the nearest may be missing,
        and among hundreds of equal documents those returned need not be the first by name.
        """
        ranked = []
        through_lists = self._lists is not None and n < len(self.names) // 2
        for vector in vectors:
            positions = None
            if through_lists:
                [found] = self._lists.search(
                    vector[None].astype(np.float32), max(_CANDIDATES, 2 * n)
                )[1]
                positions = found[found >= 0]
            scores = self.scores_of(vector[None], positions)[0]
            ranked.append(
                select_best(scores, self.names, n=n if vector.any() else 0, positions=positions)
            )
        return ranked

    def scores_of(self, vectors: Floats, positions: Positions | None = None) -> Floats:
        """Return the cosine of each row of `vectors` with each document, shape (rows, documents).

        If `positions` is not None, only the documents at these positions are scored.
        """
        if positions is not None or self.vectors.dtype == np.float32:
            rows = (
                self.vectors
                if positions is None
                else np.asarray(self.vectors[positions], np.float32)
            )
            product: Floats = vectors @ rows.T
            return product
        scores = np.empty((len(vectors), len(self.names)), np.float32)
        for start in range(0, len(self.names), _BLOCK_ROWS):
            block = np.asarray(self.vectors[start : start + _BLOCK_ROWS], np.float32)
            scores[:, start : start + len(block)] = vectors @ block.T
        return scores

    def top(self, views: Sequence[View], *, n: int) -> list[Ranking]:
        """Return the `n` documents with the highest cosine for each of the queries `views`."""
        return self.near(self.embed(views), n=n)

    def scores(self, views: Sequence[View], positions: Positions | None = None) -> Floats:
        """Return the cosine of each of the queries `views` with each document.

        The shape is (views, documents). If `positions` is not None, only the documents at these
        positions are scored.
        """
        return self.scores_of(self.embed(views), positions)


def build_lists(vectors: Any, *, seed: int = 0) -> Any:
    """Build inverted lists over `vectors` with faiss, so that not every vector must be compared.

    `vectors` has the shape (rows, dimensions), is float16 or float32, and may be on disk. Vectors
    are grouped around centres and stored with four bits for every two numbers. A query reads the
    lists whose centres are near it. The lists take a 16th of the memory of the vectors and are
    precise enough to select candidates, which are then ranked by exact cosines.

    Raises:
        RetrievalUnavailable: faiss is not installed.
    """
    require(f"an index of {len(vectors):,} tools", "faiss")
    import faiss

    rows, dimensions = vectors.shape
    # 2,048 lists for a million rows.
    count = max(1, min(2 ** round(np.log2(2 * rows**0.5)), rows // _TRAINED_ROWS))
    pieces = dimensions // 2 if dimensions % 2 == 0 else dimensions
    lists: Any = faiss.index_factory(
        dimensions, f"IVF{count},PQ{pieces}x4fs", faiss.METRIC_INNER_PRODUCT
    )
    lists.cp.niter = lists.pq.cp.niter = _ROUNDS
    sample = np.random.default_rng(seed).choice(
        rows, min(rows, count * _TRAINED_ROWS), replace=False
    )
    lists.train(np.asarray(vectors[np.sort(sample)], np.float32))
    for start in range(0, rows, _BLOCK_ROWS):
        lists.add(np.asarray(vectors[start : start + _BLOCK_ROWS], np.float32))
    return lists
