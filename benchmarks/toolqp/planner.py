"""The conversation that a planner of ToolQP is trained on, and a planner on a model that was."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

from atc.retrieve.asking import texts
from atc.retrieve.base import Hit
from atc.retrieve.planners import (
    PLAN_TEMPERATURE,
    PLAN_TOKENS,
    QUERY_TEMPERATURE,
    QUERY_TOKENS,
    Documents,
    Plan,
    Step,
    Turn,
    listing,
    shortened,
)
from benchmarks.toolqp.prompts import fill
from protocols.ask import Ask, Message

STOP = "<stop_retrieval>"
BEGIN = "Begin retrieval."
_RESULTS = "System retrieved tools for previous query:\n"
_PLAN = re.compile(r"<task_breakdown>(.*?)</task_breakdown>\s*<sub_goals>(.*?)</sub_goals>", re.DOTALL)
_BREAKDOWN = re.compile(r"<task_breakdown>(.*?)(?:</task_breakdown>|<sub_goals>|\Z)", re.DOTALL)
_GOALS = re.compile(r"<sub_goals>(.*?)(?:</sub_goals>|\Z)", re.DOTALL)
_QUERY = re.compile(r"<query>(.*?)</query>", re.DOTALL)
_TAG = re.compile(r"</?(?:query|task_breakdown|sub_goals|stop_retrieval|think)>")


class Read(NamedTuple):
    """What an assistant's turn says, and whether it is written in the form."""

    text: str
    sub_goals: tuple[str, ...] = ()
    well_formed: bool = True


def opening(task: str) -> list[Message]:
    """What stands before the first turn of a trained planner."""
    return [Message("system", fill("planner")), Message("user", f"User query: {task}")]


def plan_text(breakdown: str, sub_goals: Sequence[str]) -> str:
    """The planner's first turn."""
    goals = json.dumps(list(sub_goals), ensure_ascii=False)
    return f"<task_breakdown>\n{breakdown}\n</task_breakdown>\n<sub_goals>\n{goals}\n</sub_goals>"


def query_text(query: str) -> str:
    """A later turn, which searches."""
    return f"<query>{query}</query>"


def results(found: Sequence[Hit], documents: Documents) -> Message:
    """What the planner is told after a query; `found` are the tools to show, best first."""
    return Message("user", _RESULTS + listing(found, documents))


def read_plan(text: str) -> Read:
    """The breakdown and the sub-goals of a first turn, as far as they can be read."""
    whole = _PLAN.search(text)
    breakdown, goals = _BREAKDOWN.search(text), _GOALS.search(text)
    try:
        listed = json.loads(goals[1], strict=False) if goals else []
    except (ValueError, RecursionError):
        listed = []
    sub_goals = tuple(texts(listed)) if isinstance(listed, list) and all(isinstance(x, str) for x in listed) else ()
    told = " ".join((breakdown[1] if breakdown else "").split())
    return Read(told, sub_goals, well_formed=bool(whole and told and sub_goals and whole[0] == text.strip()))


def read_query(text: str) -> Read:
    """The query of a later turn; an empty text where it ends the search. A turn without tags is a query as it is."""
    found = _QUERY.search(text)
    if found is not None:
        return Read(_trimmed(found[1]), well_formed=found[0] == text.strip() and bool(found[1].strip()))
    if STOP in text:
        return Read("", well_formed=text.strip() == STOP)
    return Read(_trimmed(_TAG.sub(" ", text)), well_formed=False)


def ends(text: str) -> bool:
    """Whether a turn ends the search as it should: with the tag."""
    return STOP in text and _QUERY.search(text) is None


def _trimmed(query: str) -> str:
    return "\n".join(line for part in query.strip().splitlines() if (line := " ".join(part.split())))


class TrainedPlanner:
    """A planner on a model that was trained on conversations of `python -m benchmarks.toolqp`."""

    def __init__(self, ask: Ask) -> None:
        self.ask = ask

    def plan(self, task: str, ask: Ask, *, seed: int) -> Plan:
        """See `PromptedPlanner.plan`; a reply that is no plan is kept in the conversation as it is."""
        text = ask(opening(shortened(task)), temperature=PLAN_TEMPERATURE, seed=seed, max_tokens=PLAN_TOKENS).text
        read = read_plan(text)
        trouble = "" if read.well_formed else "it is not written in the form that a planner learns"
        return Plan(read.text, read.sub_goals, reply=text, trouble=trouble)

    def next(self, task: str, plan: Plan, steps: Sequence[Step], ask: Ask, *, documents: Documents, seed: int) -> Turn:
        """See `PromptedPlanner.next`. A reply without tags is a query as it is."""
        messages = [*opening(shortened(task)), Message("assistant", plan.reply), Message("user", BEGIN)]
        for step in steps:
            messages += [Message("assistant", step.turn.reply), results(step.shown, documents)]
        text = ask(messages, temperature=QUERY_TEMPERATURE, seed=seed, max_tokens=QUERY_TOKENS).text
        if ends(text):
            return Turn(reply=text, stop="the planner has what it needs")
        return Turn(read_query(text).text, reply=text)
