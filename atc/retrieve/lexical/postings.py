"""Which document holds which term how often, by term: what BM25 weights are computed from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from atc.retrieve.base import Floats

K1 = 1.5
B = 0.75

Counts: TypeAlias = NDArray[np.uint16]
Int32s: TypeAlias = NDArray[np.int32]
Int64s: TypeAlias = NDArray[np.int64]

_ROWS_AT_ONCE = 1 << 16
"""Documents counted at once: bounds what a build holds besides its result (about 30 bytes a word of them)."""

_ENTRIES_AT_ONCE = 1 << 22


@dataclass(frozen=True, slots=True)
class Postings:
    """A sparse matrix of counts, compressed by column: the entries of term `t` are `starts[t]:starts[t + 1]`.

    Within a term the documents ascend.
    """

    starts: Int64s
    """Shape (terms + 1,)."""
    documents: Int32s
    """The position of the document of each entry."""
    counts: Counts
    """How often the term stands in it, at most 65,535."""
    lengths: Int32s
    """The number of words of each document, shape (documents,)."""

    @property
    def frequencies(self) -> Int64s:
        """In how many documents each term stands, shape (terms,)."""
        return np.diff(self.starts)

    @property
    def mean_length(self) -> float:
        """The mean number of words of a document."""
        return float(self.lengths.mean()) if len(self.lengths) else 0.0

    def without(self, removed: Int64s) -> Postings:
        """The same, less the documents at the positions `removed`; those behind them move up."""
        if not len(removed):
            return self
        kept = np.ones(len(self.lengths), dtype=bool)
        kept[removed] = False
        moved = (np.cumsum(kept) - 1).astype(np.int32)
        entries = kept[self.documents]
        starts = np.concatenate([[0], np.cumsum(entries, dtype=np.int64)])[self.starts]
        return Postings(starts, moved[self.documents[entries]], self.counts[entries], self.lengths[kept])

    def renumbered(self, terms: Int64s) -> Postings:
        """The same with the terms `terms` alone, in that order; -1 stands for a term that no document holds."""
        known = np.maximum(terms, 0)
        frequencies = np.where(terms < 0, 0, self.frequencies[known] if len(self.frequencies) else 0)
        starts = np.concatenate([[0], np.cumsum(frequencies)]).astype(np.int64)
        entries = np.repeat(self.starts[known] - starts[:-1], frequencies) + np.arange(starts[-1])
        return Postings(starts, self.documents[entries], self.counts[entries], self.lengths)


def count(rows: Iterable[Sequence[int]], *, terms: int | None = None) -> Postings:
    """The postings of documents given as rows of term numbers; `terms`: how many terms there are at least."""
    parts: list[Postings] = []
    words: list[int] = []
    lengths: list[int] = []
    for row in rows:
        words.extend(row)
        lengths.append(len(row))
        if len(lengths) == _ROWS_AT_ONCE:
            parts.append(_counted(words, lengths))
            words, lengths = [], []
    parts.append(_counted(words, lengths))
    return concatenated(parts, terms=terms)


def concatenated(parts: Sequence[Postings], *, terms: int | None = None) -> Postings:
    """The documents of `parts` one after another; they share their term numbers, though later ones may know more."""
    size = max([terms or 0, *(len(part.starts) - 1 for part in parts)])
    if len(parts) == 1 and len(parts[0].starts) == size + 1:
        return parts[0]
    frequencies = [np.pad(part.frequencies, (0, size - len(part.starts) + 1)) for part in parts]
    starts = np.concatenate([[0], np.cumsum(np.sum(frequencies, axis=0))]).astype(np.int64)
    documents = np.empty(starts[-1], dtype=np.int32)
    counts = np.empty(starts[-1], dtype=np.uint16)
    free = starts[:-1].copy()  # where the next entry of each term goes
    offset = 0
    for part, frequency in zip(parts, frequencies, strict=True):
        own = np.concatenate([[0], np.cumsum(frequency)])
        places = np.repeat(free - own[:-1], frequency) + np.arange(own[-1])
        documents[places] = part.documents + np.int32(offset)
        counts[places] = part.counts
        free += frequency
        offset += len(part.lengths)
    return Postings(starts, documents, counts, np.concatenate([part.lengths for part in parts]))


def weights(postings: Postings, idf: Floats, mean_length: float) -> Floats:
    """What each entry adds to the BM25 score of its document (Lucene's variant), shape (entries,).

    Computed in the precision and order of bm25s, so that both give the same bits.
    """
    spread = np.repeat(idf, postings.frequencies)
    for start in range(0, len(spread), _ENTRIES_AT_ONCE):
        part = slice(start, start + _ENTRIES_AT_ONCE)
        counts = postings.counts[part].astype(np.float32)
        lengths = postings.lengths[postings.documents[part]]
        spread[part] *= counts / (K1 * ((1 - B) + B * lengths / (mean_length or 1.0)) + counts)
    return spread


def inverse_frequencies(frequencies: Int64s, documents: int) -> Floats:
    """The IDF of each term (Lucene's variant, never negative); zero for a term that no document holds."""
    idf = np.log(1 + (documents - frequencies + 0.5) / (frequencies + 0.5))
    return np.where(frequencies > 0, idf, 0.0).astype(np.float32)


def _counted(words: list[int], lengths: list[int]) -> Postings:
    rows = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    keys, counts = np.unique(np.asarray(words, dtype=np.int64) * len(lengths) + rows, return_counts=True)
    held, documents = np.divmod(keys, len(lengths)) if lengths else (keys, keys)
    frequencies = np.bincount(held) if len(held) else np.zeros(0, dtype=np.int64)
    return Postings(
        np.concatenate([[0], np.cumsum(frequencies)]).astype(np.int64),
        documents.astype(np.int32),
        np.minimum(counts, np.iinfo(np.uint16).max).astype(np.uint16),
        np.asarray(lengths, dtype=np.int32),
    )
