"""ToolQP's planner (Fang and Glass, 2026), prompted on any model: what it is asked, and what it replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from atc.retrieve.asking import a_list, a_text, an_object, json_object, one_text, texts
from atc.retrieve.base import Hit
from atc.retrieve.document import ToolDocument
from atc.retrieve.prompts import fill
from protocols.ask import Ask, Message
from protocols.jsontypes import Json, JsonObject
from protocols.reply import one_line

PLAN_TEMPERATURE, QUERY_TEMPERATURE = 0.0, 0.5
"""Both of Table 5, ToolQP-Prompting."""
PLAN_TOKENS, QUERY_TOKENS = 600, 250
"""Longest replies that are waited for; a model that writes more has begun to repeat itself."""
_TASK_LETTERS, _DESCRIPTION_LETTERS = 4000, 140
_MOST_GOALS = 6
_TRIES = 3
"""Queries for one sub-goal, at most; then the next one has its turn."""
_NONE = "none"
Documents: TypeAlias = Mapping[str, ToolDocument]
_PLAN_SCHEMA = an_object({"plan": a_text(600), "sub_goals": a_list(a_text(200, least=3), most=_MOST_GOALS, least=1)})


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


def query_key(query: str) -> str:
    """Equal for queries that differ in case and spaces alone."""
    return " ".join(query.casefold().split())


def shortened(task: str) -> str:
    """The beginning of a task: a prompt has room for no more."""
    return task if len(task) <= _TASK_LETTERS else task[:_TASK_LETTERS] + " …"


def listing(found: Sequence[Hit], documents: Documents) -> str:
    """Found tools as a model reads them: numbered, a line each, the name and the beginning of the description."""
    lines = []
    for number, hit in enumerate(found, start=1):
        document = documents.get(hit.tool)
        about = one_line(document.description or document.title, limit=_DESCRIPTION_LETTERS) if document else ""
        lines.append(f"{number}. {hit.tool}: {about}" if about else f"{number}. {hit.tool}")
    return "\n".join(lines) or "(nothing)"


class Planner(Protocol):
    """Plans a search and writes its queries. The model comes with each call, so that a search can count it."""

    @property
    def ask(self) -> Ask:
        """The model."""

    def plan(self, task: str, ask: Ask, *, seed: int) -> Plan:
        """Break `task` down."""

    def next(self, task: str, plan: Plan, steps: Sequence[Step], ask: Ask, *, documents: Documents, seed: int) -> Turn:
        """What to search for after `steps`, or why to stop."""


class PromptedPlanner:
    """Plans a search and writes its queries by prompting any model, not trained for it.

    The paper leaves all of it to a large model's judgement (ToolQP-Prompting). A small one loses its place, so the host
    leads from sub-goal to sub-goal, each question is narrow, each reply JSON, and what cannot be read has a meaning
    that goes on.
    """

    def __init__(self, ask: Ask) -> None:
        self.ask = ask

    def plan(self, task: str, ask: Ask, *, seed: int) -> Plan:
        """Break `task` down; where the reply is no plan, the task is its only sub-goal.

        Raises:
            ModelUnavailable: the model did not answer, here and in `next`.
        """
        messages = _prompted(task)
        text = ask(messages, schema=_PLAN_SCHEMA, temperature=PLAN_TEMPERATURE, seed=seed, max_tokens=PLAN_TOKENS).text
        reply = json_object(text)
        goals = tuple(dict.fromkeys(texts(reply.get("sub_goals"))))[:_MOST_GOALS]
        trouble = "" if goals else "it names no sub-goal, so the task is taken as one"
        return Plan(one_text(reply.get("plan")), goals or (shortened(task),), reply=text, trouble=trouble)

    def next(self, task: str, plan: Plan, steps: Sequence[Step], ask: Ask, *, documents: Documents, seed: int) -> Turn:
        """What to search for after `steps`, or why to stop.

        Where the model wrote no new query for a sub-goal, the sub-goal is the query.
        """
        question, may_judge = _question(plan, steps, documents)
        if not question:
            return Turn(stop="no tool was found for the last sub-goal")
        messages = [*_prompted(task), Message("assistant", plan.reply)]
        for number, step in enumerate(
            steps
        ):  # word for word, so that a model which keeps its state reads only what is new
            asked = _question(plan, steps[:number], documents)[0]
            messages += [Message("user", asked), Message("assistant", step.turn.reply)]
        messages.append(Message("user", question))
        schema = _reply_schema(steps[-1] if may_judge else None)
        text = ask(messages, schema=schema, temperature=QUERY_TEMPERATURE, seed=seed, max_tokens=QUERY_TOKENS).text
        reply = json_object(text)
        goal = 0
        if steps:
            served = may_judge and reply.get("serves") in {hit.tool for hit in steps[-1].shown} - {_NONE}
            goal = (steps[-1].turn.goal or 0) + (served or not may_judge)
        if goal >= len(plan.sub_goals):
            return Turn(reply=text, stop="every sub-goal has a tool")
        query = one_text(reply.get("query"))
        if any(query_key(query) == query_key(step.turn.query) for step in steps):
            query = ""
        return Turn(query or plan.sub_goals[goal], goal=goal, reply=text)


def _prompted(task: str) -> list[Message]:
    return [Message("system", fill("toolqp_system")), Message("user", fill("toolqp_task", task=shortened(task)))]


def _question(plan: Plan, steps: Sequence[Step], documents: Documents) -> tuple[str, bool]:
    """What is asked after `steps`, and whether the model is to judge the last results; empty where nothing is left."""
    if not steps:
        return fill("toolqp_first", goal=plan.sub_goals[0]), False
    goal = steps[-1].turn.goal or 0
    this = {"found": listing(steps[-1].shown, documents), "number": str(goal + 1)}
    last = goal + 1 >= len(plan.sub_goals)
    following = {} if last else {"next_number": str(goal + 2), "next_goal": plan.sub_goals[goal + 1]}
    if steps[-1].repeated or sum(step.turn.goal == goal for step in steps) >= _TRIES:
        return ("" if last else fill("toolqp_given_up", **this, **following)), False
    prompt = "toolqp_results_last" if last else "toolqp_results_next"
    return fill(prompt, **this, goal=plan.sub_goals[goal], **following), True


def _reply_schema(judged: Step | None) -> JsonObject:
    properties: dict[str, Json] = {"query": a_text(300)}
    if judged is not None:
        names = dict.fromkeys([*(hit.tool for hit in judged.shown), _NONE])
        properties = {"serves": {"type": "string", "enum": [*names]}, **properties}
    return an_object(properties)
