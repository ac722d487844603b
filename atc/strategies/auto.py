"""Automatic choice of strategy: `chain`, and `stepwise` if programs keep misreading responses.

`chain` writes whole programs. `stepwise` writes them piece by piece, and shows the results so far.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from atc.archive.learned_schemas import add_observed_schemas
from atc.core.messages import format_list
from atc.core.program import Program
from atc.core.types import Attempt, Finding, Solution
from atc.pipeline.check import check
from atc.pipeline.repair import worth_repairing
from atc.pipeline.synthesize import declares_response
from atc.run.attempt import run_given_program
from atc.run.passes import MISREAD
from atc.run.program_calls import seen_output
from atc.run.program_tools import with_named, writing_tools
from atc.run.strategy_run import Parts
from atc.strategies.chain import Chain
from atc.strategies.stepwise import Stepwise
from protocols.toolbox import Toolbox

_MOST_MISREAD = 2
"""Number of rounds that misread a response, after which the strategy changes to `stepwise`."""

_INSIST = "If the program is right as it is, write the same program: it is executed then."


def solve(task: str, parts: Parts) -> Solution:
    """Solve a task with `chain`; continue with `stepwise` after two rounds that misread a response.

    A response is unknown if no schema describes it and no call has received it. If a program reads
    an unknown response and then writes, it is executed up to its first write, so that the response
    becomes known. The program then goes on to its writes, unless it reads a key that the response
    lacks. If another unknown response is read after the first write, and then written, the strategy
    changes at once. The run keeps its budget and its record of calls.
    """
    first = _First(task, parts)
    tools = first.tools
    tried = first.solve()
    if not first.why or tried.status not in ("failed", "unsure") or tried.limit is not None:
        return tried
    first.meter.note(f"changing to step by step: {first.why}.")
    second = Stepwise(
        task,
        parts,
        tools=tools,
        tool_search=first.tool_search,
        meter=first.meter,
        attempts=tried.attempts,
    )
    second.answer = tried.answer
    second.open_doubts = tried.doubts
    return second.solve()


class _First(Chain):
    """The first part of a run, which uses the strategy `chain`.

    `why` is the reason to change to `stepwise`, as a clause, or "" if there is no reason to change.
    """

    why = ""

    def __init__(self, task: str, parts: Parts) -> None:
        super().__init__(task, parts)
        self._received = self.tools
        """The tools with exactly the responses that the reads of the program received."""
        self._refused = set[str]()
        """Sources of programs that were not executed because of these responses."""

    def should_leave(self, attempts: Sequence[Attempt], program: Program | None = None) -> bool:
        """Return True if the run shall change to the strategy `stepwise`.

        See `Chain.should_leave` for the arguments.
        """
        if program is not None:
            last = self._execute_reads(program)
            if last is not None and (found := unseen_writes(program, self.tools, after=last)):
                self.why = "{} may be given what {} returns, which nobody has seen".format(*found)
            return bool(self.why)
        rounds = [list(group) for _, group in groupby(attempts, key=lambda attempt: attempt.round)]
        # The faults that repairs were, or would be, based on.
        faults = [worth_repairing(tried).fault for tried in rounds]
        misread = [fault for fault in faults if fault is not None and fault.kind in MISREAD]
        if len(misread) >= _MOST_MISREAD and not self._answered(attempts):
            blamed = list(dict.fromkeys(fault.tool for fault in misread if fault.tool is not None))
            self.why = f"programs misread what {format_list(blamed, most=3) or 'the tools'} gave"
        return bool(self.why)

    def _execute_reads(self, program: Program) -> int | None:
        """Execute a program up to its first write, so that the responses before it become known.

        This is done only if the program writes after reading a response that no schema describes.
        It does not count as a repair. Return the line of the first write; 0 if nothing was executed
        for this reason, and None if the program came to its end without a write.
        """
        before = with_named(program, self.tools, self.parts.toolbox)
        self.blind = None
        self._received = before
        past = self.parts.past.attempt(len(self.attempts))
        # A resumed run executes the same programs, although their responses are known by now.
        is_repeated = past is not None and past.is_look
        if not is_repeated and unseen_writes(program, before) is None:
            return 0
        was_blind = not seen_output(self.attempts)
        result = self.look(program)
        self.blind = was_blind
        self._received = add_observed_schemas(before, result.calls, exactly=True)
        held = [call.line for call in result.calls if call.outcome == "not_run"]
        return held[-1] if held else None

    def _attempt(self, program: Program | None) -> None:
        """Check and execute a program.

        Its statements before the first write may have been executed already (see `_execute_reads`).
        If the program reads a key that the responses to these reads lack, it is not executed. It is
        executed if the model repeats it, because it may read the key only where it is present.
        """
        found = () if program is None else _find_misread(program, self._received)
        is_unfit = self.blind is not None and bool(found)
        if program is None or not is_unfit or program.source in self._refused:
            super()._attempt(program)
            return
        self._refused.add(program.source)
        last = replace(found[-1], message=f"{found[-1].message} {_INSIST}")
        run_given_program(self, program, (*found[:-1], last))


def _find_misread(program: Program, received: Toolbox) -> tuple[Finding, ...]:
    """Return what a program reads otherwise than the responses in `received` are.

    A key that the responses lack counts, also if the program reads it with a default.
    """
    found = check(program, received)
    return tuple(one for one in found if one.certain or one.code == "missing-key")


def unseen_writes(program: Program, tools: Toolbox, *, after: int = 0) -> tuple[str, str] | None:
    """Return the names of a writing tool and of a tool called before it whose response is unknown.

    A response is unknown if no response schema describes it. Only calls below the line `after`
    count. Return None if the program has no such two calls.
    """
    below = "\n".join(program.source.splitlines()[after:])
    called = [word for word in re.findall(r"[^\W\d]\w*(?=\()", below) if word in tools]
    writing = writing_tools(program, tools)
    for number, name in enumerate(called):
        unseen = (
            one
            for one in called[:number]
            if one not in writing and not declares_response(tools[one])
        )
        if name in writing and (source := next(unseen, None)):
            return name, source
    return None
