"""ToolQP's search (§3.1): plan, query, look at what was found, query again; then one ranking of all that was found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from atc.config import InvalidConfig
from atc.retrieve.base import Hit, Ranker, Retrieval, Retriever
from atc.retrieve.document import ToolDocument
from atc.retrieve.plan.aggregate import Aggregation, aggregated
from atc.retrieve.plan.found import Found
from atc.retrieve.plan.steps import Plan, Planner, Step, same_query
from atc.retrieve.tally import Tally
from protocols.ask import Ask

_REPEATS = 2
"""Queries asked before, one after the other, that end a search: the planner has nothing new."""
_DEPTH = 20
"""Tools of each query that are ranked, at least: more than `k` of them change what RRF ranks, never the peak rank."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How ToolQP searches; the defaults are the paper's, the others its ablations (Table 4).

    Raises:
        InvalidConfig: a value that is none of these.
    """

    queries: int = 10
    """Queries that the planner may write, at most (C.4); the user's own is not one of them."""
    shown: int = 5
    """Tools of each query that the planner sees (C.3)."""
    aggregation: Aggregation = "peak_rank"
    own_query: bool = True
    """Whether the user's own query is searched for too."""
    tool_format: bool = False
    """ToolQP-Format: each query ends with the definition of the tool that is looked for, as a document has it."""
    seed: int = 0
    """Of the model's queries, which are sampled."""

    def __post_init__(self) -> None:
        known = get_args(Aggregation)
        if self.aggregation not in known:
            raise InvalidConfig(f"aggregation is {self.aggregation!r}; give {', '.join(known)}.")
        for name in ("queries", "shown"):
            if getattr(self, name) < 1:
                raise InvalidConfig(f"{name} is {getattr(self, name)}; give 1 or more.")


class ToolQP:
    """A `Retriever` that plans and searches with `base`; `documents` has the descriptions of what `base` finds.

    `planner` is any model, prompted, or one that was trained on the conversations of `atc bench data toolqp`. A
    degenerate reply (no plan, an empty or repeated query) is mended or ends the search, and the transcript says so.
    Searches may run at once.
    """

    def __init__(
        self,
        base: Ranker | Retriever,
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
        plan = self._planner.plan(query, tally, seed=options.seed * 1000, tool_format=options.tool_format)
        notes.extend(_told(plan))
        notes.extend(self._steps(query, plan, tally, found))
        hits = aggregated(found.lists, options.aggregation)
        return Retrieval(hits=tuple(hits[:k]), transcript=tuple(notes), usage=found.usage_with(tally.usage))

    def _steps(self, task: str, plan: Plan, ask: Ask, found: Found) -> Iterator[str]:
        """Searches until the planner or the budget ends it; gives a line for each thing that happened."""
        options = self._options
        steps: list[Step] = []
        while len(steps) < options.queries:
            turn = self._planner.next(
                task,
                plan,
                steps,
                ask,
                documents=self._documents,
                seed=options.seed * 1000 + len(steps) + 1,
                tool_format=options.tool_format,
            )
            if not turn.query:
                yield f"stopped: {turn.stop or 'the model wrote no query'}"
                return
            repeated = any(same_query(turn.query, step.turn.query) for step in steps)
            steps.append(Step(turn, tuple(found.look(turn.query)[: options.shown]), repeated=repeated))
            yield _step_told(len(steps), steps[-1])
            if len(steps) >= _REPEATS and all(step.repeated for step in steps[-_REPEATS:]):
                yield "stopped: the model repeats its queries"
                return
        yield f"stopped: {options.queries} queries are the most"


def _told(plan: Plan) -> Iterator[str]:
    if plan.trouble:
        yield f"the plan is no use: {plan.trouble}"
    if plan.breakdown:
        yield f"plan: {plan.breakdown}"
    for number, goal in enumerate(plan.sub_goals, start=1):
        yield f"sub-goal {number}: {goal}"


def _step_told(number: int, step: Step) -> str:
    goal = "" if step.turn.goal is None else f" for sub-goal {step.turn.goal + 1}"
    again = " (asked before)" if step.repeated else ""
    return f"query {number}{goal}{again}: {step.turn.query} → {_named(step.shown)}"


def _named(hits: Sequence[Hit]) -> str:
    return ", ".join(hit.tool for hit in hits) or "nothing"
