"""The shapes of retrieval: `Retriever` finds tools for a task, `Ranker` scores the documents of an index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol, TypeAlias

from atc.core.types import Usage
from protocols.errors import AtcError

if TYPE_CHECKING:  # only what computes with arrays imports numpy, which the core has not
    import numpy as np
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float32]"
Positions: TypeAlias = "NDArray[np.int64]"
"""Of documents in an index."""


class RetrievalUnavailable(AtcError):
    """The packages, the model or the index that a search needs are not there."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A tool (by alias) that fits a query. Scores compare within one result only; higher fits better.

    `why` says what brought it where that is not the score: `named` in the query, or `producer of TOOL.ARGUMENT`.
    """

    tool: str
    score: float
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """The tools found, best first, ties in name order so that a run repeats; how they were found; what it took.

    `transcript` has a line for each thing done (an intent, a query with what it found, an agent's call).
    """

    hits: tuple[Hit, ...]
    transcript: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)


class Retriever(Protocol):
    """Searches one set of tools."""

    def search(self, query: str, *, k: int) -> Retrieval:
        """At most `k` tools; fewer, or none, where fewer fit.

        Raises:
            RetrievalUnavailable: something that the search needs is missing.
            ModelUnavailable: the method asks a model, and it did not answer.
        """


View: TypeAlias = str | tuple[str, ...]
"""What is looked for, once: one text, or several that stand for one (embeddings are averaged, words are joined)."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best documents for one view: their positions in the index and their scores, best first, ties by name."""

    positions: Positions
    scores: Floats


class Ranker(Protocol):
    """One way to score the documents of an index, whose names stand in `names` by position."""

    @property
    def names(self) -> Sequence[str]:
        """The name of each document, by position; may be read from disk as it is indexed."""

    def top(self, views: Sequence[View], *, n: int) -> list[Ranking]:
        """For each view the `n` best documents; fewer where fewer have anything to do with it."""

    def scores(self, views: Sequence[View], positions: Positions | None = None) -> Floats:
        """The score of each document (or of those at `positions`) for each view, shape (views, documents)."""


class Embedder(Protocol):
    """A model that turns texts into vectors of length one. Several threads may ask at once."""

    @property
    def name(self) -> str:
        """What identifies the model and how it is used: vectors of equal names compare."""

    @property
    def dimensions(self) -> int:
        """The length of a vector."""

    def embed(self, texts: Sequence[str]) -> Floats:
        """A row for each text, shape (texts, dimensions); the zero vector for a blank one, which is near to nothing.

        Raises:
            RetrievalUnavailable: the model cannot be had.
        """


def find_missing_packages(*packages: str) -> list[str]:
    """Those of `packages` (names as they are imported) that are not installed."""
    return [package for package in packages if find_spec(package) is None]


def require(what: str, *packages: str) -> None:
    """See that all of `packages` are installed, for `what` (the subject of the sentence) needs them.

    Raises:
        RetrievalUnavailable: one is not.
    """
    if lacking := find_missing_packages(*packages):
        named = " and ".join(map(repr, lacking))
        raise RetrievalUnavailable(
            f"{what} needs {named}; install it with pip install 'automatic-tool-chain[retrieval]'."
        )
