"""What passes between a search and its planner: a plan, then turns; and how found tools are shown to a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from atc.retrieve.base import Hit
from atc.retrieve.document import ToolDocument
from protocols.ask import Ask
from protocols.reply import one_line

PLAN_TEMPERATURE = 0.0
QUERY_TEMPERATURE = 0.5
"""Both of Table 5, ToolQP-Prompting."""
PLAN_TOKENS = 600
QUERY_TOKENS = 250
"""Longest replies that are waited for; a model that writes more has begun to repeat itself."""

_TASK_LETTERS = 4000
_DESCRIPTION_LETTERS = 140


@dataclass(frozen=True, slots=True)
class Plan:
    """What the task takes, in words, and the sub-goals in their order; `reply` is what the model wrote.

    `trouble` says what was wrong with the reply where something was.
    """

    breakdown: str
    sub_goals: tuple[str, ...]
    reply: str = ""
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """What the planner wants next: to search for `query`, or to stop for the reason `stop`.

    `goal` is the 0-based sub-goal that the query is for, None where the planner does not tell.
    """

    query: str = ""
    goal: int | None = None
    reply: str = ""
    stop: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """A query that was searched for, and the best tools that were found and shown, best first.

    A `repeated` one was asked before in the same search, so it was not searched for again.
    """

    turn: Turn
    shown: tuple[Hit, ...]
    repeated: bool = False


class Planner(Protocol):
    """Plans a search and writes its queries. Keeps nothing between calls: several searches may use one planner.

    The model comes with each call, so that a search can count what it takes.
    """

    @property
    def ask(self) -> Ask:
        """The model that the planner is meant for."""

    def plan(self, task: str, ask: Ask, *, seed: int, tool_format: bool) -> Plan:
        """Break `task` down.

        With `tool_format` each query ends with what the document of the tool would say (ToolQP-Format).

        Raises:
            ModelUnavailable: the model did not answer.
        """

    def next(
        self,
        task: str,
        plan: Plan,
        steps: Sequence[Step],
        ask: Ask,
        *,
        documents: Mapping[str, ToolDocument],
        seed: int,
        tool_format: bool,
    ) -> Turn:
        """What to search for after `steps`, or why to stop.

        Raises:
            ModelUnavailable: the model did not answer.
        """


def same_query(one: str, other: str) -> bool:
    """Whether two queries differ in case and spaces alone."""
    return query_key(one) == query_key(other)


def query_key(query: str) -> str:
    """Equal for queries that differ in case and spaces alone."""
    return " ".join(query.casefold().split())


def shortened(task: str) -> str:
    """The beginning of a task: a prompt has room for no more."""
    return task if len(task) <= _TASK_LETTERS else task[:_TASK_LETTERS] + " …"


def listing(found: Sequence[Hit], documents: Mapping[str, ToolDocument]) -> str:
    """Found tools as a model reads them: numbered, a line each, the name and the beginning of the description."""
    if not found:
        return "(nothing)"
    return "\n".join(f"{number}. {_line(hit.tool, documents)}" for number, hit in enumerate(found, start=1))


def _line(name: str, documents: Mapping[str, ToolDocument]) -> str:
    document = documents.get(name)
    about = (document.description or document.title) if document is not None else ""
    said = one_line(about, limit=_DESCRIPTION_LETTERS)
    return f"{name}: {said}" if said else name
