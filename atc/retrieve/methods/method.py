"""What a method of search is, and how one is spelled: `bm25`, `reinvoke:queries=5,form=queries` (see `atc.flags`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from atc.flags import Flags, Kind, read_spec
from atc.retrieve.base import Hit, Ranker, Retrieval, Retriever
from protocols.errors import AtcError

if TYPE_CHECKING:
    from atc.retrieve.expand import Expansions
    from atc.retrieve.index import ToolIndex
    from protocols.ask import Ask


AUTO = "auto"
"""Not a method: the best that asks no model, of what the index has."""


class UnknownMethod(AtcError):
    """No method of search is called so, or it has no such flag."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What methods are built over. A method that needs what is None here says so when it is built."""

    index: ToolIndex
    ask: Ask | None = None
    """Answers what a method asks a model for each query."""
    planner: Ask | None = None
    """ToolQP's trained planner; None: `ask` is prompted."""
    expansions: Expansions | None = None
    """Synthetic queries of the tools."""
    threads: int = 16
    """Questions that one search may ask a model at once."""


Build: TypeAlias = Callable[[Setup, Flags], Retriever]


@dataclass(frozen=True, kw_only=True)
class Method:
    """One way to search.

    `asks`: a model, for every query; `embeds`: needs vectors of the index; `expands`: needs synthetic queries of the
    tools.
    """

    name: str
    summary: str
    build: Build = field(repr=False)
    flags: Mapping[str, Kind] = field(default_factory=dict)
    asks: bool = False
    embeds: bool = False
    expands: bool = False

    @property
    def default(self) -> bool:
        """Whether a measurement of all methods takes it: it needs nothing that is not there by itself."""
        return not self.asks and self.name != "rerank"


@dataclass(frozen=True, slots=True)
class Plain:
    """The best of one ranker for the query as it stands."""

    ranker: Ranker

    def search(self, query: str, *, k: int) -> Retrieval:
        """At most `k` tools, best first."""
        names = self.ranker.names
        [found] = self.ranker.top([query], n=k)
        pairs = zip(found.positions, found.scores, strict=True)
        return Retrieval(hits=tuple(Hit(names[int(position)], float(score)) for position, score in pairs))


def read(spec: str, methods: Mapping[str, Method]) -> tuple[Method, Flags]:
    """The method and the flags of a spec.

    Raises:
        UnknownMethod: no such method or flag, or a value that the flag does not take.
    """
    try:
        return read_spec(spec, methods, what="method of search")
    except ValueError as error:
        raise UnknownMethod(str(error)) from error
