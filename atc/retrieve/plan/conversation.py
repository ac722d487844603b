"""The conversation of a trained planner (Figure 7): what it is told, what it writes, and how that is read.

`atc bench data toolqp` writes its training data in this form and `TrainedPlanner` speaks it, so that a planner is used
as it was trained. One turn holds a `<task_breakdown>` and, on the next line, `<sub_goals>` (a JSON list); each later
one a `<query>`; the last one is `<stop_retrieval>`. In between stand the user's turns: the task, the word to begin, and
after each query the tools that were found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from atc.retrieve.base import Hit
from atc.retrieve.document import ToolDocument
from atc.retrieve.plan.prompts import fill
from atc.retrieve.plan.steps import listing
from protocols.ask import Message

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
    """What stands before the planner's first turn."""
    return [Message("system", fill("planner")), Message("user", f"User query: {task}")]


def plan_text(breakdown: str, sub_goals: Sequence[str]) -> str:
    """The planner's first turn."""
    goals = json.dumps(list(sub_goals), ensure_ascii=False)
    return f"<task_breakdown>\n{breakdown}\n</task_breakdown>\n<sub_goals>\n{goals}\n</sub_goals>"


def query_text(query: str) -> str:
    """A later turn, which searches."""
    return f"<query>{query}</query>"


def results(found: Sequence[Hit], documents: Mapping[str, ToolDocument]) -> Message:
    """What the planner is told after a query; `found` are the tools to show, best first."""
    return Message("user", _RESULTS + listing(found, documents))


def with_definition(query: str, *definitions: Mapping[str, Any]) -> str:
    """A query of ToolQP-Format: behind it a line with the definition of each tool that is looked for, as JSON."""
    full = [{key: value for key, value in definition.items() if value} for definition in definitions]
    return "\n".join([query, *(json.dumps(definition, ensure_ascii=False) for definition in full)])


def read_plan(text: str) -> Read:
    """The breakdown and the sub-goals of a first turn, as far as they can be read."""
    whole = _PLAN.search(text)
    breakdown, goals = (_BREAKDOWN.search(text), _GOALS.search(text)) if whole is None else (whole, whole)
    listed = _strings(goals.group(whole.re.groups if whole else 1)) if goals else None
    told = " ".join((breakdown.group(1) if breakdown else "").split())
    return Read(told, tuple(listed or ()), well_formed=bool(whole and told and listed) and _alone(whole, text))


def read_query(text: str) -> Read:
    """The query of a later turn; an empty text where it ends the search. A turn without tags is a query as it is."""
    found = _QUERY.search(text)
    if found is not None:
        return Read(_trimmed(found.group(1)), well_formed=_alone(found, text) and bool(found.group(1).strip()))
    if STOP in text:
        return Read("", well_formed=text.strip() == STOP)
    return Read(_trimmed(_TAG.sub(" ", text)), well_formed=False)


def ends(text: str) -> bool:
    """Whether a turn ends the search as it should: with the tag."""
    return STOP in text and _QUERY.search(text) is None


def _alone(found: re.Match[str] | None, text: str) -> bool:
    return found is not None and found.group() == text.strip()


def _trimmed(query: str) -> str:
    return "\n".join(line for part in query.strip().splitlines() if (line := " ".join(part.split())))


def _strings(text: str) -> list[str] | None:
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return None
    return [goal for item in value if (goal := " ".join(item.split()))]
