"""A planner that was trained for it: the model leads, in the conversation that it was trained on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from atc.retrieve.document import ToolDocument
from atc.retrieve.plan.conversation import BEGIN, ends, opening, read_plan, read_query, results
from atc.retrieve.plan.steps import (
    PLAN_TEMPERATURE,
    PLAN_TOKENS,
    QUERY_TEMPERATURE,
    QUERY_TOKENS,
    Plan,
    Step,
    Turn,
    shortened,
)
from protocols.ask import Ask, Message


class TrainedPlanner:
    """A `Planner` for a model that was trained on conversations of `atc bench data toolqp`.

    Whether its queries end with a definition (ToolQP-Format) was settled by its training, so nothing is told about it.
    """

    def __init__(self, ask: Ask) -> None:
        self.ask = ask

    def plan(self, task: str, ask: Ask, *, seed: int, tool_format: bool) -> Plan:  # noqa: ARG002 - settled by training
        """See `Planner.plan`; a reply that is no plan is kept in the conversation as it is."""
        text = ask(opening(shortened(task)), temperature=PLAN_TEMPERATURE, seed=seed, max_tokens=PLAN_TOKENS).text
        read = read_plan(text)
        trouble = "" if read.well_formed else "it is not written in the form that a planner learns"
        return Plan(read.text, read.sub_goals, reply=text, trouble=trouble)

    def next(
        self,
        task: str,
        plan: Plan,
        steps: Sequence[Step],
        ask: Ask,
        *,
        documents: Mapping[str, ToolDocument],
        seed: int,
        tool_format: bool,  # noqa: ARG002 - settled by training
    ) -> Turn:
        """See `Planner.next`. A reply without tags is a query as it is."""
        messages = [*opening(shortened(task)), Message("assistant", plan.reply), Message("user", BEGIN)]
        for step in steps:
            messages += [Message("assistant", step.turn.reply), results(step.shown, documents)]
        text = ask(messages, temperature=QUERY_TEMPERATURE, seed=seed, max_tokens=QUERY_TOKENS).text
        if ends(text):
            return Turn(reply=text, stop="the planner has what it needs")
        return Turn(read_query(text).text, reply=text)
