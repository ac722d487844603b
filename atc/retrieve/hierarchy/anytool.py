"""AnyTool's retriever (§4.1): agents over a hierarchy of APIs put what a request needs into a pool."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from atc.retrieve.base import Retrieval
from atc.retrieve.document import ToolDocument
from atc.retrieve.hierarchy.budget import Budget
from atc.retrieve.hierarchy.options import Options
from atc.retrieve.hierarchy.search import Search
from atc.retrieve.hierarchy.tree import Hierarchy
from protocols.ask import Ask


class AnyTool:
    """A `Retriever`: a meta agent chooses categories, category agents tools, tool agents APIs.

    The hits are the pool in order of addition. Several threads may search at once. See `Search` for how agents act,
    and `Hierarchy` for boxes without categories; it is made of the documents as they are at the first search.
    """

    def __init__(self, documents: Mapping[str, ToolDocument], ask: Ask, *, options: Options = Options()) -> None:  # noqa: B008
        self._documents, self._ask, self._options = documents, ask, options

    def search(self, query: str, *, k: int) -> Retrieval:
        """The first `k` APIs of the pool, see `Retriever.search`.

        Raises:
            ModelUnavailable: the model did not answer. Who wants to keep what was found until then uses `start`.
        """
        search = self.start(query)
        search.run()
        return search.retrieval(k=k)

    def start(self, query: str, *, budget: Budget | None = None) -> Search:
        """A search with its first agents, in which nothing was asked yet; `budget` is one to share with a solver."""
        search = Search(query, self.hierarchy, self._ask, options=self._options, budget=budget)
        search.begin()
        return search

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The hierarchy of the documents, made at first use."""
        return Hierarchy.of(self._documents)
