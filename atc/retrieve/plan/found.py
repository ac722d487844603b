"""What the different queries of one search found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from atc.retrieve.base import Hit, Ranker, Retrieval, Retriever
from atc.retrieve.plan.steps import query_key
from atc.types import Usage


class Found:
    """Looks each different query up once, `depth` tools deep, in any ranker or retriever."""

    def __init__(self, base: Ranker | Retriever, *, depth: int) -> None:
        self._base, self._depth = base, depth
        self._by_query: dict[str, Retrieval] = {}

    def look(self, query: str) -> Sequence[Hit]:
        """The best tools for `query`, best first."""
        key = query_key(query)
        if key not in self._by_query:
            self._by_query[key] = look_up(self._base, query, n=self._depth)
        return self._by_query[key].hits

    @property
    def lists(self) -> list[Sequence[Hit]]:
        """What was found, a list a query, in the order of the queries."""
        return [retrieval.hits for retrieval in self._by_query.values()]

    def usage_with(self, usage: Usage) -> Usage:
        """`usage` and what the base took, where it asks a model itself."""
        every = [usage, *(retrieval.usage for retrieval in self._by_query.values())]
        return Usage(**{field.name: sum(getattr(one, field.name) for one in every) for field in fields(Usage)})


def look_up(base: Ranker | Retriever, query: str, *, n: int) -> Retrieval:
    """The `n` best tools of a retriever, or of a ranker, for one query."""
    if hasattr(base, "search"):
        return base.search(query, k=n)
    ranked = base.top([query], n=n)[0]
    pairs = zip(ranked.positions.tolist(), ranked.scores.tolist(), strict=True)
    return Retrieval(hits=tuple(Hit(base.names[position], score) for position, score in pairs))
