"""The route by what is known: one program where responses are described, step by step where they have to be seen."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from atc.events import RouteChanged
from atc.repair import worth_repairing
from atc.strategies import chain, stepwise
from atc.strategies.base import Parts
from atc.types import Attempt, Fault, FaultKind, Solution
from protocols.schema import resolve, types
from protocols.toolbox import Tool

_MISREAD: frozenset[FaultKind] = frozenset({"misread_result", "drift", "empty_result"})
"""Faults of a program that took a response for another than it was."""
_MOST_MISREAD = 2
"""Rounds that end with a response misread before the route changes."""


def solve(task: str, parts: Parts) -> Solution:
    """Solve with `chain`, or `stepwise` where a program written at once would be guesswork.

    So it is when the responses of more than half of the chosen tools are not described, or only guessed (a tool that is
    declared to write does not count: few programs read what it gives); and after two rounds of `chain` that misread a
    response. The run goes on then with what it has: one budget, one journal.
    """
    meter = parts.meter()
    tools = chain.retrieve(task, parts, meter)
    read = [tool for tool in tools.values() if tool.protocol.annotations.read_only is not False]
    unknown = [tool.alias for tool in read if not described(tool)]
    if 2 * len(unknown) > len(read):
        parts.observer(RouteChanged("stepwise", f"the responses of {_listed(unknown)} are not described"))
        return stepwise.solve(task, parts, tools=tools, meter=meter)
    tried = chain.solve(task, parts, tools=tools, meter=meter, enough=misread)
    if tried.status != "failed" or tried.limit is not None or not misread(tried.attempts):
        return tried
    blamed = list(dict.fromkeys(fault.tool for fault in _misreadings(tried.attempts) if fault.tool is not None))
    parts.observer(RouteChanged("stepwise", f"programs misread what {_listed(blamed) or 'the tools'} gave"))
    return stepwise.solve(task, parts, tools=tools, meter=meter, before=tried.attempts)


def described(tool: Tool) -> bool:
    """Whether a tool's protocol tells what a response holds, from a document or from responses that were seen."""
    protocol = tool.protocol
    if protocol.output_schema is None or protocol.evidence.level == "guessed":
        return False
    top = resolve(protocol.output_schema, protocol.output_schema)
    kinds = types(top)
    if "object" in kinds and len(kinds) == 1:
        return any(top.get(key) for key in ("properties", "additionalProperties", "patternProperties", *_COMBINED))
    return bool(kinds) or any(key in top for key in _COMBINED)


_COMBINED = ("allOf", "anyOf", "oneOf")


def misread(attempts: Sequence[Attempt]) -> bool:
    """Whether enough rounds ended with a response misread, and none with an answer."""
    return not any(attempt.answer is not None for attempt in attempts) and len(_misreadings(attempts)) >= _MOST_MISREAD


def _misreadings(attempts: Sequence[Attempt]) -> list[Fault]:
    """The faults of this kind that the model was told of, or would be: one a round."""
    rounds = [list(group) for _, group in groupby(attempts, key=lambda attempt: attempt.round)]
    told = [worth_repairing(tried).fault for tried in rounds]
    return [fault for fault in told if fault is not None and fault.kind in _MISREAD]


def _listed(names: Sequence[str]) -> str:
    few = ", ".join(names[:3])
    return f"{few} and {len(names) - 3} more" if len(names) > 3 else few
