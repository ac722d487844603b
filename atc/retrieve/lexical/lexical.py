"""BM25 as a ranker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from atc.retrieve.base import Ranked, View
from atc.retrieve.best import best
from atc.retrieve.lexical.postings import K1, B, Postings, concatenated, count, inverse_frequencies, weights
from atc.retrieve.lexical.strings import Strings, mapped
from atc.retrieve.lexical.vocabulary import Terms, Vocabulary
from atc.retrieve.needs import require
from atc.retrieve.words import tokens

if TYPE_CHECKING:
    from atc.retrieve.base import Floats, Positions

_PARTS = ("starts", "documents", "counts", "lengths", "added")
_LOOKED_UP = 8
"""Entries that are added up in the time in which one is looked for."""
_BLOCK = 1024
"""Documents whose best score is looked at first, to know early which scores are too low to come."""


class Lexical:
    """BM25 (Lucene's variant, k1 = 1.5, b = 0.75) over the tokens of `atc.retrieve.words`; a `Ranker`.

    A word said twice in a query counts twice; of a view of several texts all words count. A document that shares no
    word with a view scores 0 and is never in `top`.

    What each word adds to each document is computed beforehand and added up by bm25s with its numpy backend: 7 ms a
    query at a million tools, so that neither numba nor another engine (tantivy) is needed. The matrix is made here, bit
    for bit as bm25s makes it: for a million documents that takes 15 s where bm25s took 166 s, and documents can be
    added and dropped, which bm25s cannot.
    """

    def __init__(self, names: Sequence[str], postings: Postings, vocabulary: Vocabulary, added: Floats) -> None:
        """`added` is what each entry of `postings` adds to the score of its document, shape (entries,)."""
        self.names = names
        self.postings, self.vocabulary, self.added = postings, vocabulary, added
        self._idf: dict[str, float] = {}

    @classmethod
    def build(cls, names: Iterable[str], texts: Iterable[str]) -> Lexical:
        """An index in memory of `texts`, whose documents are called `names`.

        Raises:
            RetrievalUnavailable: bm25s or PyStemmer is not installed.
        """
        return cls.of_tokens(list(names), map(tokens, texts))

    @classmethod
    def of_tokens(
        cls, names: Sequence[str], rows: Iterable[Sequence[str]], *, beside: Lexical | None = None
    ) -> Lexical:
        """The same of documents that were cut into tokens.

        `beside`: another index, whose mean length and, of the terms that it knows, IDF are used, so that the scores of
        both compare.
        """
        vocabulary = Terms()
        postings = count([vocabulary.add(token) for token in row] for row in rows)
        documents, mean_length = len(postings.lengths), postings.mean_length
        if beside is None or not len(beside.names):
            idf = inverse_frequencies(postings.frequencies, documents)
        else:
            mean_length = beside.mean_length
            new = inverse_frequencies(postings.frequencies, documents + len(beside.names))
            idf = np.array([beside.idf(t) or own for t, own in zip(vocabulary, new, strict=True)], dtype=np.float32)
        return cls(names, postings, vocabulary, weights(postings, idf, mean_length))

    @classmethod
    def joined(cls, names: Sequence[str], first: Lexical, removed: Positions, second: Lexical) -> Lexical:
        """One index of the documents of `first` less those `removed`, and those of `second`, called `names`.

        It is as if it had been built of them, IDF and mean length included.
        """
        terms = Terms(zip(first.vocabulary, range(len(first.vocabulary)), strict=True))
        numbers = np.array([terms.add(term) for term in second.vocabulary], dtype=np.int64)
        places = np.full(len(terms), -1, dtype=np.int64)
        places[numbers] = np.arange(len(numbers))
        postings = concatenated([first.postings.without(removed), second.postings.renumbered(places)])
        used = np.flatnonzero(postings.frequencies)
        postings, known = postings.renumbered(used), list(terms)
        vocabulary = Terms((known[number], place) for place, number in enumerate(used))
        idf = inverse_frequencies(postings.frequencies, len(postings.lengths))
        return cls(names, postings, vocabulary, weights(postings, idf, postings.mean_length))

    @classmethod
    def open(cls, folder: Path, names: Sequence[str]) -> Lexical:
        """What `save` wrote, memory-mapped.

        Raises:
            OSError, ValueError: files are not there, or do not belong together.
        """
        starts, documents, counts, lengths, added = (mapped(folder / f"{part}.npy") for part in _PARTS)
        terms = Strings.open(folder, "terms")
        if not (len(starts) == len(terms) + 1 and len(documents) == len(counts) == len(added) == starts[-1]):
            raise ValueError("the postings do not belong together")
        if len(lengths) != len(names):
            raise ValueError(f"{len(lengths):,} documents for {len(names):,} names")
        return cls(names, Postings(starts, documents, counts, lengths), terms, added)

    def save(self, folder: Path) -> None:
        """Write the index into `folder`; the names are the caller's."""
        folder.mkdir(parents=True, exist_ok=True)
        held = self.postings
        arrays: list[Any] = [held.starts, held.documents, held.counts, held.lengths, self.added]
        for part, values in zip(_PARTS, arrays, strict=True):
            np.save(folder / f"{part}.npy", values)
        Strings.of(self.vocabulary).save(folder, "terms")

    @property
    def mean_length(self) -> float:
        """The mean number of tokens of a document."""
        return self.postings.mean_length

    def idf(self, term: str) -> float:
        """The inverse document frequency of a term; 0 of one that no document holds."""
        if term not in self._idf:
            [number] = self.vocabulary.find_all([term])
            frequency = 0 if number is None else self.postings.starts[number + 1] - self.postings.starts[number]
            self._idf[term] = float(inverse_frequencies(np.array([frequency]), len(self.names))[0])
        return self._idf[term]

    def top(self, views: Sequence[View], *, n: int) -> list[Ranked]:
        """For each view the `n` best documents, ties by name."""
        return [self._best(self._scores(self._terms(view)), n) for view in views]

    def scores(self, views: Sequence[View], positions: Positions | None = None) -> Floats:
        """The score of each document (or of those at `positions`) for each view, shape (views, documents)."""
        width = len(self.names) if positions is None else len(positions)
        scores = np.zeros((len(views), width), dtype=np.float32)
        for row, view in zip(scores, views, strict=True):
            terms = self._terms(view)
            if positions is None:
                row[:] = self._scores(terms)
            elif self._fewer_entries(terms, positions):
                row[:] = self._scores(terms)[positions]
            else:
                row[:] = self._scores_at(terms, positions)
        return scores

    def _terms(self, view: View) -> dict[int, list[int]]:
        """The numbers of the known terms of a view, by how often they are said."""
        said = Counter(tokens(view if isinstance(view, str) else "\n".join(view)))
        terms: dict[int, list[int]] = {}
        for number, times in zip(self.vocabulary.find_all(list(said)), said.values(), strict=True):
            if number is not None:
                terms.setdefault(times, []).append(number)
        return terms

    def _scores(self, terms: Mapping[int, list[int]]) -> Floats:
        total = np.zeros(len(self.names), dtype=np.float32)
        for times, numbers in sorted(terms.items()):
            total += np.float32(times) * self._engine.get_scores_from_ids(numbers)
        return total

    def _fewer_entries(self, terms: Mapping[int, list[int]], positions: Positions) -> bool:
        """Whether adding up all entries takes less than looking for those of `positions`."""
        numbers = np.array(list(chain.from_iterable(terms.values())), dtype=np.int64)
        entries = self.postings.starts[numbers + 1] - self.postings.starts[numbers]
        return bool(entries.sum() < _LOOKED_UP * len(numbers) * len(positions))

    def _scores_at(self, terms: Mapping[int, list[int]], positions: Positions) -> Floats:
        """The same at a few positions: each is looked up among the documents of each term."""
        total = np.zeros(len(positions), dtype=np.float32)
        for times, numbers in sorted(terms.items()):
            part = np.zeros(len(positions), dtype=np.float32)
            for start, end in ((self.postings.starts[n], self.postings.starts[n + 1]) for n in numbers):
                documents = self.postings.documents[start:end]
                places = np.searchsorted(documents, positions)
                held = documents[np.minimum(places, len(documents) - 1)] == positions if len(documents) else False
                part[held] += self.added[start:end][places[held]]
            total += np.float32(times) * part
        return total

    def _best(self, scores: Floats, n: int) -> Ranked:
        """The best of them, without those that a look at each block's best shows to be too low."""
        least = np.float32(0)
        if 0 < n <= len(scores) // _BLOCK:
            blocks = scores[: len(scores) // _BLOCK * _BLOCK].reshape(-1, _BLOCK).max(axis=1)
            least = np.partition(blocks, -n)[-n]
        positions = np.flatnonzero(scores >= least - 1e-5 if least > 1e-5 else scores > 0)
        return best(scores[positions], self.names, n=n, positions=positions)

    @cached_property
    def _engine(self) -> Any:
        require("searching tools", "bm25s")
        import bm25s

        engine = bm25s.BM25(k1=K1, b=B)
        engine.nonoccurrence_array = None
        engine.scores = {
            "data": self.added,
            "indices": self.postings.documents,
            "indptr": self.postings.starts,
            "num_docs": len(self.names),
        }
        return engine
