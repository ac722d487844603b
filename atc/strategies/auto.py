"""Automatic choice of strategy: one program first, then step by step if programs keep misreading
responses.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from atc.core.messages import format_list
from atc.core.types import Attempt, Program, Solution
from atc.pipeline.repair import worth_repairing
from atc.pipeline.synthesize import is_described
from atc.run.passes import MISREAD
from atc.run.program_tools import writing_tools
from atc.run.strategy_run import Parts
from atc.strategies.chain import Chain
from atc.strategies.stepwise import Stepwise
from protocols.toolbox import Toolbox

_MOST_MISREAD = 2
"""Number of rounds with a misread response after which the strategy changes."""


def solve(task: str, parts: Parts) -> Solution:
    """Solve with `chain`, and continue with `stepwise` once two rounds have misread a response.

    The change is immediate if a program writes after reading a response that was neither described
    nor observed. The run keeps its budget and its journal.
    """
    first = _First(task, parts)
    tools = first.tools
    tried = first.solve()
    if not first.why or tried.status != "failed" or tried.limit is not None:
        return tried
    first.meter.note(f"changing to step by step: {first.why}.")
    return Stepwise(
        task,
        parts,
        tools=tools,
        tool_search=first.tool_search,
        meter=first.meter,
        attempts=tried.attempts,
    ).solve()


class _First(Chain):
    """`chain`, until it should be left. `why` is the reason, as a clause."""

    why = ""

    def should_leave(self, attempts: Sequence[Attempt], program: Program | None = None) -> bool:
        """Return True to switch to `stepwise`, see `Chain.should_leave`."""
        if program is not None:
            if found := unseen_writes(program, self.tools):
                self.why = "{} may be given what {} returns, which nobody has seen".format(*found)
            return bool(self.why)
        rounds = [list(group) for _, group in groupby(attempts, key=lambda attempt: attempt.round)]
        # The faults that repairs were, or would be, based on.
        faults = [worth_repairing(tried).fault for tried in rounds]
        misread = [fault for fault in faults if fault is not None and fault.kind in MISREAD]
        if len(misread) >= _MOST_MISREAD and not any(attempt.answer for attempt in attempts):
            blamed = list(dict.fromkeys(fault.tool for fault in misread if fault.tool is not None))
            self.why = f"programs misread what {format_list(blamed, most=3) or 'the tools'} gave"
        return bool(self.why)


def unseen_writes(program: Program, tools: Toolbox) -> tuple[str, str] | None:
    """Return a writing tool and a tool called before it whose response is unknown, if the program
    calls both; else None.
    """
    called = [word for word in re.findall(r"[^\W\d]\w*(?=\()", program.source) if word in tools]
    writing = writing_tools(program, tools)
    for number, name in enumerate(called):
        unseen = (
            one for one in called[:number] if one not in writing and not is_described(tools[one])
        )
        if name in writing and (source := next(unseen, None)):
            return name, source
    return None
