"""Search in tool documents by words, with BM25 scores that bm25s computes."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from atc.pipeline.retrieve.base import Floats, Positions, Ranking, View, require
from atc.pipeline.retrieve.fuse import select_best
from atc.pipeline.retrieve.vocabulary import tokens

K1 = 1.5
B = 0.75
_WORDS = "vocabulary.npy"
_NO_WORDS = "no-words"
"""Name of an empty file that marks an index whose documents have no words.

`_WORDS` is the name of the file that has the hashes of words with their numbers.
"""
_BLOCK = 1024
"""Number of documents per block.

A search computes the best score of each block first, to exclude documents whose scores are too low.
"""


class Texts(Sequence[str]):
    """A sequence of texts, such as names, that is stored in a folder. Each is read on access.

    Reading a million texts at once would take most of the time of opening an index.
    """

    def __init__(self, folder: Path, kind: str) -> None:
        files = (folder / f"{kind}-{part}.npy" for part in ("bytes", "ends"))
        self._bytes, self._ends = (np.asarray(np.load(file, mmap_mode="r")) for file in files)

    @staticmethod
    def save(folder: Path, kind: str, texts: Iterable[str]) -> None:
        """Write texts into files of `folder`. `Texts(folder, kind)` then opens them."""
        # The first byte keeps the file from being empty: an empty file cannot be mapped.
        parts = [
            b"\n",
            *(text.encode("utf-8", "surrogatepass") for text in texts),
        ]
        np.save(folder / f"{kind}-bytes.npy", np.frombuffer(b"".join(parts), np.uint8))
        np.save(folder / f"{kind}-ends.npy", np.cumsum([len(part) for part in parts]))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, place: Any) -> Any:
        start, end = self._ends[range(len(self))[place] :][:2]
        return self._bytes[start:end].tobytes().decode("utf-8", "surrogatepass")


def _on_disk(folder: Path) -> Callable[[str], int | None]:
    """Return a function that looks up the number of a word in a file of words.

    The function returns None for an unknown word. The file has the sorted hashes of the words (64
    bits each) and is memory-mapped.
    """
    hashes, numbers = np.asarray(np.load(folder / _WORDS, mmap_mode="r"))

    def number(word: str) -> int | None:
        place = hashes.searchsorted(wanted := np.uint64(_hash(word)))
        return int(numbers[place]) if place < len(hashes) and hashes[place] == wanted else None

    return number


def _hash(word: str) -> int:
    return int.from_bytes(
        hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    )


class Lexical:
    """A `Ranker` by BM25 (Lucene's variant, k1 = 1.5, b = 0.75) over stemmed words.

    The words are those of `atc.pipeline.retrieve.vocabulary`. A word that occurs twice in a query
    counts twice. In a query of several texts, the words of all texts count. A document that shares
    no word with a query scores 0 and is never in `top`. `engine` is the bm25s index, or None if no
    document has a word. `vocabulary` maps words to their numbers; if the words are on disk, the
    function `number` is used instead.
    """

    def __init__(
        self, names: Sequence[str], engine: Any, vocabulary: Mapping[str, int], number: Any = None
    ) -> None:
        self.names = names
        self._engine = engine
        self._vocabulary = vocabulary
        self._number = number or vocabulary.get
        self._last: tuple[View, Floats] | None = None

    @classmethod
    def build(cls, names: Sequence[str], texts: Iterable[str]) -> Lexical:
        """Build an index of `texts` in memory. `names` are the names of their documents.

        Raises:
            RetrievalUnavailable: bm25s or PyStemmer is not installed.
        """
        require("searching tools", "bm25s", "Stemmer")
        import bm25s

        vocabulary: dict[str, int] = {}

        def number_words(text: str) -> list[int]:
            return [vocabulary.setdefault(word, len(vocabulary)) for word in tokens(text)]

        rows = [number_words(text) for text in texts]
        if not vocabulary:
            return cls(names, None, {})
        engine = bm25s.BM25(k1=K1, b=B)
        engine.index((rows, vocabulary), show_progress=False)
        return cls(names, engine, vocabulary)

    @classmethod
    def open(cls, folder: Path) -> Lexical:
        """Open an index that `save` has written. Its files are memory-mapped.

        Raises:
            OSError, ValueError: files are missing or do not belong together.
            RetrievalUnavailable: bm25s is not installed.
        """
        require("searching tools", "bm25s")
        import bm25s

        names = Texts(folder, "names")
        if (folder / _NO_WORDS).exists():
            return cls(names, None, {})
        engine = bm25s.BM25.load(folder, mmap=True, load_vocab=False, show_progress=False)
        parts = engine.scores
        if not len(parts["data"]) == len(parts["indices"]) == parts["indptr"][-1] or parts[
            "num_docs"
        ] != len(names):
            raise ValueError("the parts of the index do not belong together")
        for part in ("data", "indices", "indptr"):
            # Slicing a `np.memmap` is slow. A plain array over it is still memory-mapped.
            parts[part] = np.asarray(parts[part])
        return cls(names, engine, {}, _on_disk(folder))

    def save(self, folder: Path) -> None:
        """Write an index that was built in memory into the existing `folder`."""
        Texts.save(folder, "names", self.names)
        if self._engine is None:
            (folder / _NO_WORDS).touch()
            return
        pairs = sorted((_hash(word), number) for word, number in self._vocabulary.items())
        np.save(folder / _WORDS, np.ascontiguousarray(np.array(pairs, np.uint64).T))
        # `_WORDS` replaces bm25s' own vocabulary, which would be written as one JSON object.
        self._engine.vocab_dict = {}
        self._engine.save(folder, show_progress=False)

    def top(self, views: Sequence[View], *, n: int) -> list[Ranking]:
        """Return the `n` best documents for each of the queries `views`.

        Documents with equal scores are ordered by name.
        """
        return [self._best(self._scores(view), n) for view in views]

    def scores(self, views: Sequence[View], positions: Positions | None = None) -> Floats:
        """Return the score of each document for each query, shape (views, documents).

        If `positions` is not None, only the documents at these positions are scored.
        """
        width = len(self.names) if positions is None else len(positions)
        rows = [
            self._scores(view) if positions is None else self._scores(view)[positions]
            for view in views
        ]
        return np.stack(rows) if rows else np.zeros((0, width), np.float32)

    def _scores(self, view: View) -> Floats:
        """Return the scores of all documents for one query.

        The last result is cached, because a search that fuses rankings requests the same scores
        twice.
        """
        if self._last is not None and self._last[0] == view:
            return self._last[1]
        total = np.zeros(len(self.names), dtype=np.float32)
        if self._engine is not None:
            words = Counter(tokens(view if isinstance(view, str) else "\n".join(view)))
            by_times: dict[int, list[int]] = {}
            for word, times in words.items():
                if (number := self._number(word)) is not None:
                    by_times.setdefault(times, []).append(number)
            for times, numbers in sorted(by_times.items()):
                total += np.float32(times) * self._engine.get_scores_from_ids(numbers)
        self._last = view, total
        return total

    def _best(self, scores: Floats, n: int) -> Ranking:
        """Return the `n` documents with the best scores.

        To avoid sorting all documents, the scores are divided into blocks of equal size. If `n`
        blocks have a document that scores at least s, documents with lower scores than s are not
        considered.
        """
        least = np.float32(0)
        if 0 < n <= len(scores) // _BLOCK:
            blocks = scores[: len(scores) // _BLOCK * _BLOCK].reshape(-1, _BLOCK).max(axis=1)
            least = np.partition(blocks, -n)[-n]
        positions = np.flatnonzero(scores >= least - 1e-5 if least > 1e-5 else scores > 0)
        return select_best(scores[positions], self.names, n=n, positions=positions)
