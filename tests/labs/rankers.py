"""Documents and an embedder for the tests of the index."""

import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from atc.core.types import Usage
from atc.pipeline.retrieve.base import Hit, Ranker, Retrieval
from atc.pipeline.retrieve.document import ToolDocument
from atc.pipeline.retrieve.vocabulary import tokens


class BagOfWords:
    """An embedder whose vectors count words by their hash; it remembers which documents (JSON) it was given."""

    name = "bag-of-words"
    dimensions = 32

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Any:
        self.asked += [text for text in texts if text.startswith("{")]
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for token in tokens(text):
                row[zlib.crc32(token.encode()) % self.dimensions] += 1
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return rows / np.where(lengths > 0, lengths, 1)


def document(name: str, description: str = "") -> ToolDocument:
    return ToolDocument(
        name=name, description=description or f"does what {name} says", parameters={"city": "where"}
    )


def zoo(count: int) -> list[ToolDocument]:
    """So many tools about animals in cities."""
    animals = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "ibis", "jay"]
    cities = ["Paris", "Rome", "Oslo", "Lima", "Cairo", "Quito", "Delhi"]
    return [
        document(f"tool_{i}", f"counts {animals[i % 10]} in {cities[i % 7]}") for i in range(count)
    ]


def found(ranker: Ranker | None, query: str, n: int = 10) -> list[str]:
    """The names of the `n` best for one query."""
    assert ranker is not None
    [ranked] = ranker.top([query], n=n)
    return [ranker.names[i] for i in ranked.positions]


class Words(BagOfWords):
    """So many numbers that no two words of a test share one."""

    dimensions = 512


class Fixed:
    """A method that finds the same tools whatever is asked, best first."""

    def __init__(self, *names: str, usage: Usage | None = None) -> None:
        self.hits = tuple(Hit(name, 1.0 - number / 10) for number, name in enumerate(names))
        self.usage = usage or Usage()

    def search(self, query: str, *, k: int) -> Retrieval:
        return Retrieval(hits=self.hits[:k], transcript=("looked",), usage=self.usage)


class Overlap:
    """A method that finds by the share of a query's words that a tool's name and description have."""

    def __init__(self, described: Mapping[str, ToolDocument]) -> None:
        self._words = {
            name: set(f"{name} {one.description}".lower().split())
            for name, one in described.items()
        }

    def search(self, query: str, *, k: int) -> Retrieval:
        words = set(query.lower().split())
        hits = [
            Hit(name, len(words & own) / len(words))
            for name, own in sorted(self._words.items())
            if words & own
        ]
        return Retrieval(hits=tuple(sorted(hits, key=lambda hit: -hit.score)[:k]))
