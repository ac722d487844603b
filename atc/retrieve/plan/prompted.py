"""A planner on any model, not trained for it: the host leads from sub-goal to sub-goal, the model judges and writes.

The paper leaves all of it to a large model's judgement (ToolQP-Prompting). A small one loses its place, so each
question is narrow, each reply JSON under a schema, and what cannot be read has a meaning that goes on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from atc.retrieve.document import ToolDocument
from atc.retrieve.plan.conversation import with_definition
from atc.retrieve.plan.prompts import fill
from atc.retrieve.plan.steps import (
    PLAN_TEMPERATURE,
    PLAN_TOKENS,
    QUERY_TEMPERATURE,
    QUERY_TOKENS,
    Plan,
    Step,
    Turn,
    listing,
    same_query,
    shortened,
)
from atc.retrieve.replies import json_object, one_text, texts
from protocols.ask import Ask, Message

_MOST_GOALS = 6
_TRIES = 3
"""Queries for one sub-goal, at most; then the next one has its turn."""
_NONE = "none"

_PLAN: dict[str, Any] = {
    "type": "object",
    "properties": {
        "plan": {"type": "string", "maxLength": 600},
        "sub_goals": {
            "type": "array",
            "items": {"type": "string", "minLength": 3, "maxLength": 200},
            "minItems": 1,
            "maxItems": _MOST_GOALS,
        },
    },
    "required": ["plan", "sub_goals"],
    "additionalProperties": False,
}


class PromptedPlanner:
    """A `Planner` that prompts any model."""

    def __init__(self, ask: Ask) -> None:
        self.ask = ask

    def plan(self, task: str, ask: Ask, *, seed: int, tool_format: bool) -> Plan:
        """See `Planner.plan`; where the reply is no plan, the task is its only sub-goal."""
        messages = _opening(task, tool_format=tool_format)
        text = ask(messages, schema=_PLAN, temperature=PLAN_TEMPERATURE, seed=seed, max_tokens=PLAN_TOKENS).text
        reply = json_object(text)
        goals = tuple(dict.fromkeys(texts(reply.get("sub_goals"))))[:_MOST_GOALS]
        trouble = "" if goals else "it names no sub-goal, so the task is taken as one"
        return Plan(one_text(reply.get("plan")), goals or (shortened(task),), reply=text, trouble=trouble)

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
        """See `Planner.next`. Where the model wrote no new query for a sub-goal, the sub-goal is the query."""
        question, may_judge = _question(plan, steps, documents)
        if not question:
            return Turn(stop="no tool was found for the last sub-goal")
        messages = [
            *_opening(task, tool_format=tool_format),
            *_turns(plan, steps, documents),
            Message("user", question),
        ]
        schema = _reply_schema(steps[-1] if may_judge else None, tool_format=tool_format)
        text = ask(messages, schema=schema, temperature=QUERY_TEMPERATURE, seed=seed, max_tokens=QUERY_TOKENS).text
        reply = json_object(text)
        goal = _goal_after(steps, served=may_judge and _served(reply, steps[-1]), may_judge=may_judge)
        if goal >= len(plan.sub_goals):
            return Turn(reply=text, stop="every sub-goal has a tool")
        query = _searched(reply, tool_format=tool_format)
        if any(same_query(query, step.turn.query) for step in steps):
            query = ""
        return Turn(query or plan.sub_goals[goal], goal=goal, reply=text)


def _opening(task: str, *, tool_format: bool) -> list[Message]:
    system = fill("system") + ("\n\n" + fill("tool_format") if tool_format else "")
    return [Message("system", system), Message("user", fill("task", task=shortened(task)))]


def _turns(plan: Plan, steps: Sequence[Step], documents: Mapping[str, ToolDocument]) -> list[Message]:
    """The conversation so far, word for word, so that a model which keeps its state reads only what is new."""
    turns = [Message("assistant", plan.reply)]
    for number, step in enumerate(steps):
        turns.append(Message("user", _question(plan, steps[:number], documents)[0]))
        turns.append(Message("assistant", step.turn.reply))
    return turns


def _question(plan: Plan, steps: Sequence[Step], documents: Mapping[str, ToolDocument]) -> tuple[str, bool]:
    """What is asked after `steps`, and whether the model is to judge the last results; empty where nothing is left."""
    if not steps:
        return fill("first", goal=plan.sub_goals[0]), False
    goal = steps[-1].turn.goal or 0
    found, number = listing(steps[-1].shown, documents), str(goal + 1)
    following = plan.sub_goals[goal + 1] if goal + 1 < len(plan.sub_goals) else None
    if steps[-1].repeated or sum(step.turn.goal == goal for step in steps) >= _TRIES:
        if following is None:
            return "", False
        return fill("given_up", found=found, number=number, next_number=str(goal + 2), next_goal=following), False
    this = {"found": found, "number": number, "goal": plan.sub_goals[goal]}
    if following is None:
        return fill("results_last", **this), True
    return fill("results_next", **this, next_number=str(goal + 2), next_goal=following), True


def _goal_after(steps: Sequence[Step], *, served: bool, may_judge: bool) -> int:
    if not steps:
        return 0
    goal = steps[-1].turn.goal or 0
    return goal if may_judge and not served else goal + 1


def _reply_schema(judged: Step | None, *, tool_format: bool) -> dict[str, Any]:
    properties: dict[str, Any] = {"query": {"type": "string", "maxLength": 300}}
    if judged is not None:
        names = [hit.tool for hit in judged.shown]
        properties = {"serves": {"type": "string", "enum": [*dict.fromkeys([*names, _NONE])]}, **properties}
    if tool_format:
        properties["description"] = {"type": "string", "maxLength": 300}
        properties["parameters"] = {"type": "array", "items": {"type": "string", "maxLength": 40}, "maxItems": 8}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _served(reply: Mapping[str, Any], step: Step) -> bool:
    return reply.get("serves") in {hit.tool for hit in step.shown} - {_NONE}


def _searched(reply: Mapping[str, Any], *, tool_format: bool) -> str:
    """The query to search for; empty where the model wrote none."""
    query = one_text(reply.get("query"))
    if not tool_format or not query:
        return query
    definition = {"description": one_text(reply.get("description")), "parameters": texts(reply.get("parameters"))}
    return with_definition(query, definition)
