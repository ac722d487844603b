"""Types of retrieval: a `Retriever` finds tools for a task, a `Ranker` scores indexed documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol, TypeAlias

from atc.core.types import Usage
from protocols.errors import AtcError

# numpy is optional, and only needed for computing with arrays.
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float32]"
Positions: TypeAlias = "NDArray[np.int64]"
"""Positions of documents in an index, as an int64 array."""


class RetrievalUnavailable(AtcError):
    """Raised if a package, model or index that a search needs is missing."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A tool, identified by its alias, that fits a query.

    Scores are comparable only within one result; higher is better. `why` is set if the tool was not
    found by its score: it is `named` if the query contains the tool's name, or
    `producer of TOOL(ARGUMENT)` if the tool returns values that this argument needs.
    """

    tool: str
    score: float
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """Result of a search: the tools, how they were found, and the model usage.

    `hits` are ordered best first and, if the scores are equal, by name, so that a run is
    repeatable. `transcript` has one line for each step (an intent, a query with its results, an
    agent's call).
    """

    hits: tuple[Hit, ...]
    transcript: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)


class Retriever(Protocol):
    """A search method over one set of tools, which returns the tools that fit a query."""

    def search(self, query: str, *, k: int) -> Retrieval:
        """Return at most `k` tools, best first. Fewer tools, or none, are returned if fewer fit.

        Raises:
            RetrievalUnavailable: something that the search needs is missing.
            ModelUnavailable: the method asks a model, and it did not answer.
        """


View: TypeAlias = str | tuple[str, ...]
"""One query of a ranker, called a view of the user's query as in the Re-Invoke paper.

It is a text, or several texts that together form one query. Dense search averages their embeddings;
BM25 joins their words.
"""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best documents for one query, with their scores.

    Documents are given by their positions in the index. The best come first; documents with equal
    scores are ordered by name.
    """

    positions: Positions
    scores: Floats


class Ranker(Protocol):
    """A way to score the documents of an index for queries.

    Documents are identified by their position in `names`. A query is called a view.
    """

    @property
    def names(self) -> Sequence[str]:
        """The name of each document, in order of position. Names may be on disk until accessed."""

    def top(self, views: Sequence[View], *, n: int) -> list[Ranking]:
        """Return the `n` best documents for each of the queries `views`; fewer if fewer match."""

    def scores(self, views: Sequence[View], positions: Positions | None = None) -> Floats:
        """Return the score of each document for each of the queries `views`.

        The result is an array of the shape (views, documents). If `positions` is not None, only the
        documents at these positions are scored.
        """


class Embedder(Protocol):
    """A model that turns texts into vectors of length one. Several threads may use it at once."""

    @property
    def name(self) -> str:
        """Name of the model with its options.

        Vectors are comparable if the names of their embedders are equal.
        """

    @property
    def dimensions(self) -> int:
        """The number of dimensions of the vectors."""

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return the vector of each text as one row of an array, shape (texts, dimensions).

        A blank text gets the zero vector, which is similar to nothing.

        Raises:
            RetrievalUnavailable: the model is not available.
        """


def find_missing_packages(*packages: str) -> list[str]:
    """Return those of `packages` that are not installed. A package is given by its import name."""
    return [package for package in packages if find_spec(package) is None]


def require(what: str, *packages: str) -> None:
    """Check that all of `packages` are installed.

    `what` is the feature that needs them, the subject of the error message.

    Raises:
        RetrievalUnavailable: a package is not installed.
    """
    if missing := find_missing_packages(*packages):
        named = " and ".join(map(repr, missing))
        raise RetrievalUnavailable(
            f"{what} needs {named}; install it with pip install 'automatic-tool-chain[retrieval]'."
        )


def hits(ranked: Ranking, names: Sequence[str], *, k: int) -> tuple[Hit, ...]:
    """Return the first `k` documents of a ranking as hits, the tools of a search result."""
    pairs = zip(ranked.positions[:k].tolist(), ranked.scores[:k].tolist(), strict=True)
    return tuple(Hit(names[position], score) for position, score in pairs)
