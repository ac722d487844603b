"""ToolQP's search (§3.1): plan, query, look at what was found, query again; then one ranking of all that was found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from atc.retrieve import fuse
from atc.retrieve.asking import Tally
from atc.retrieve.base import Hit, Retrieval, Retriever
from atc.retrieve.document import ToolDocument
from atc.retrieve.planners import Plan, Planner, Step, query_key
from protocols.ask import Ask

Aggregation: TypeAlias = Literal["peak_rank", "rrf", "multi_view"]
AGGREGATIONS: Mapping[str, Callable[[Sequence[Sequence[Hit]]], list[Hit]]] = {
    "peak_rank": fuse.peak_rank,
    "rrf": fuse.rrf,
    "multi_view": fuse.multi_view,
}
_REPEATS = 2
"""Queries asked before, one after the other, that end a search: the planner has nothing new."""
_DEPTH = 20
"""Tools of each query that are ranked, at least: more than `k` of them change what RRF ranks, never the peak rank."""


class Found:
    """Looks each different query up once, `depth` tools deep."""

    def __init__(self, base: Retriever, *, depth: int) -> None:
        self._base, self._depth = base, depth
        self._by_query: dict[str, Sequence[Hit]] = {}

    def look(self, query: str) -> Sequence[Hit]:
        """The best tools for `query`, best first."""
        key = query_key(query)
        if key not in self._by_query:
            self._by_query[key] = self._base.search(query, k=self._depth).hits
        return self._by_query[key]

    @property
    def lists(self) -> list[Sequence[Hit]]:
        """What was found, a list a query, in the order of the queries."""
        return list(self._by_query.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How ToolQP searches; the defaults are the paper's, the others its ablations (Table 4).

    Raises:
        ValueError: fewer than one query or tool.
    """

    queries: int = 10
    """Queries that the planner may write, at most (C.4); the user's own is not one of them."""
    shown: int = 5
    """Tools of each query that the planner sees (C.3)."""
    aggregation: Aggregation = "peak_rank"
    own_query: bool = True
    """Whether the user's own query is searched for too."""
    seed: int = 0
    """Of the model's queries, which are sampled."""

    def __post_init__(self) -> None:
        if min(self.queries, self.shown) < 1:
            raise ValueError(f"queries and shown must be 1 or more, not {self.queries} and {self.shown}")


class ToolQP:
    """A `Retriever` that plans and searches with `base`; `documents` has the descriptions of what `base` finds.

    A degenerate reply (no plan, an empty or repeated query) is mended or ends the search, and the transcript says so.
    Searches may run at once.
    """

    def __init__(
        self,
        base: Retriever,
        documents: Mapping[str, ToolDocument],
        planner: Planner,
        *,
        options: Options = Options(),
    ) -> None:
        self._base, self._documents = base, documents
        self._planner, self._options = planner, options

    def search(self, query: str, *, k: int) -> Retrieval:
        """See `Retriever.search`; the scores are those of the aggregation.

        Raises:
            RetrievalUnavailable: as the base.
            ModelUnavailable: the planner's model did not answer.
        """
        if not self._documents or not query.strip():
            return Retrieval(hits=())
        options, tally, notes = self._options, Tally(self._planner.ask), list[str]()
        found = Found(self._base, depth=max(k, _DEPTH))
        if options.own_query:
            notes.append(f"own query → {_named(found.look(query)[: options.shown])}")
        plan = self._planner.plan(query, tally, seed=options.seed * 1000)
        notes += [f"the plan is no use: {plan.trouble}"] if plan.trouble else []
        notes += [f"plan: {plan.breakdown}"] if plan.breakdown else []
        notes += [f"sub-goal {number}: {goal}" for number, goal in enumerate(plan.sub_goals, start=1)]
        notes += self._steps(query, plan, tally, found)
        hits = AGGREGATIONS[options.aggregation](found.lists)
        return Retrieval(hits=tuple(hits[:k]), transcript=tuple(notes), usage=tally.usage)

    def _steps(self, task: str, plan: Plan, ask: Ask, found: Found) -> Iterator[str]:
        """Searches until the planner or the budget ends it; gives a line for each thing that happened."""
        options = self._options
        steps: list[Step] = []
        while len(steps) < options.queries:
            seed = options.seed * 1000 + len(steps) + 1
            turn = self._planner.next(task, plan, steps, ask, documents=self._documents, seed=seed)
            if not turn.query:
                yield f"stopped: {turn.stop or 'the model wrote no query'}"
                return
            repeated = any(query_key(turn.query) == query_key(step.turn.query) for step in steps)
            steps.append(Step(turn, tuple(found.look(turn.query)[: options.shown]), repeated=repeated))
            goal = "" if turn.goal is None else f" for sub-goal {turn.goal + 1}"
            again = " (asked before)" if repeated else ""
            yield f"query {len(steps)}{goal}{again}: {turn.query} → {_named(steps[-1].shown)}"
            if len(steps) >= _REPEATS and all(step.repeated for step in steps[-_REPEATS:]):
                yield "stopped: the model repeats its queries"
                return
        yield f"stopped: {options.queries} queries are the most"


def _named(hits: Sequence[Hit]) -> str:
    return ", ".join(hit.tool for hit in hits) or "nothing"
