"""The chain of tools (ATC): one program for the whole task, repaired from facts when it fails."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from atc.doubt import says_nothing
from atc.events import AttemptEnded, ProgramWritten, ToolsChosen
from atc.learned import observed
from atc.meter import BudgetSpent, Meter
from atc.repair import correction, worth_repairing
from atc.retrieve.searches import in_turns
from atc.searching import Searching
from atc.strategies.attempts import (
    attempt,
    checked,
    insists,
    rests_on_responses,
    seen_output,
    with_named,
    writing_tools,
    written,
)
from atc.strategies.base import Parts
from atc.strategies.conclusion import conclusion
from atc.synthesize import new_program, opening
from atc.types import Attempt, Fault, Finding, Program, Solution
from protocols.parsing import parse
from protocols.render import DETAILS, Docs, described_within, names_only, stubs, token_estimate
from protocols.toolbox import Toolbox

_FEW = 4
"""So few tools are never searched: the prompt sheds detail instead."""
_FOUND = 12
"""Tools that further searches of the model give together."""

UNCONFIRMED = "an answer was doubtful, and the model did not confirm it."
UNCHANGED = "the model wrote the same program again, which would fail as it did."

Leave = Callable[[Sequence[Attempt], Program | None, Toolbox], bool]
"""Whether another way should be tried: after attempts, or before a program that was written now is run."""


def solve(
    task: str,
    parts: Parts,
    *,
    tools: Toolbox | None = None,
    meter: Meter | None = None,
    leave: Leave = lambda attempts, program, tools: False,  # noqa: ARG005 - what it would be given
) -> Solution:
    """Retrieve, then write, check, execute, attribute and repair until an answer stands or the budget is spent.

    `tools` (else they are retrieved) and `meter` are those of a strategy that begins with this one, and that `leave`
    lets go on in its own way.
    """
    meter = meter or parts.meter()
    return _Chain(task, parts, meter, retrieve(task, parts, meter) if tools is None else tools, leave).solve()


@dataclass
class _Chain:
    """One run. `tried` are the programs that need not run again: they would do what they did.

    A program that a tool's failure stopped is none of them: the failure may have passed.
    """

    task: str
    parts: Parts
    meter: Meter
    tools: Toolbox
    leave: Leave
    attempts: list[Attempt] = field(default_factory=list)
    tried: set[str] = field(default_factory=set)
    confirmed: bool = False
    """Whether the model gave the last program again after it had been told what is doubtful about its answer."""

    def solve(self) -> Solution:
        """A program, and then repairs of it; each program's fault is told before another is asked for."""
        config, limit = self.parts.config, None
        messages = opening(self.task, self.tools, budget=self.parts.prompt_tokens, docs=config.docs)
        try:
            for round_ in range(config.max_repairs + 1):
                program = new_program(
                    messages,
                    self.meter.write,
                    known=self.tried,
                    most=self.parts.samples,
                    temperature=config.temperature,
                )
                if program is not None and program.source in self.tried:
                    self.confirmed = self.attempts[-1].answer is not None
                    if not self.confirmed:
                        self.meter.note(UNCHANGED)
                        self.leave([*self.attempts, replace(self.attempts[-1], round=round_)], None, self.tools)
                    break
                if program is not None and self.leave(self.attempts, program, self.tools):
                    break
                before = len(self.attempts)
                self._attempt(program, round_)
                told = any(attempt.answer is not None for attempt in self.attempts[:before])
                tried = self.attempts[before:]
                if _ended(tried[-1], doubt_told=told) or config.repair == "none" or round_ == config.max_repairs:
                    break
                if self.leave(self.attempts, None, self.tools):
                    break
                messages += correction(
                    worth_repairing(tried),
                    self.parts.toolbox,
                    mode=config.repair,
                    complete=self.meter.complete,
                    orphans=written(self.attempts, self.parts),
                    messages=messages,
                    docs=config.docs,
                    calls=[call for attempt in self.attempts if attempt.trace for call in attempt.trace.calls],
                )
        except BudgetSpent as spent:
            limit = spent.limit
        answer = _standing(self.attempts, confirmed=self.confirmed)
        if answer is None and any(attempt.answer is not None for attempt in self.attempts):
            self.meter.note(UNCONFIRMED)
        return conclusion(self.task, self.attempts, self.tools, self.parts, self.meter, answer=answer, limit=limit)

    def _attempt(self, program: Program | None, round_: int) -> None:
        """Try a program; where it insists on what a response schema forbids, and writes, its reads alone go first."""
        if program is None:
            self._take(_without_program(round_))
            self.parts.observer(AttemptEnded(len(self.attempts) - 1, self.attempts[-1]))
            return
        known = with_named(program, self.tools, self.parts.toolbox)
        findings = checked(self.task, program, known, blind=False)[1]
        if writing_tools(program, known) and insists(findings, program, known, self.attempts):
            self._run(_reads_of(program, writing_tools(program, known)), round_, look=True)
        self._run(program, round_)

    def _run(self, program: Program, round_: int, *, look: bool = False) -> None:
        blind = not seen_output(self.attempts)
        result = attempt(
            self.task,
            program,
            self.tools,
            self.parts,
            self.meter,
            number=len(self.attempts),
            round_=round_,
            blind=blind,
            look=look,
            earlier=self.attempts,
        )
        known = with_named(program, self.tools, self.parts.toolbox)
        passes = result.fault is not None and result.fault.kind in ("tool_failed", "unknown_outcome")
        if not look and not passes and not rests_on_responses(result.findings, program, known):
            self.tried |= {program.source, result.program.source}
        self._take(result)

    def _take(self, result: Attempt) -> None:
        """Keep an attempt, and what its calls showed of the tools."""
        self.attempts.append(result)
        if result.trace is not None:
            self.parts = replace(self.parts, toolbox=observed(self.parts.toolbox, result.trace.calls))
            self.tools = self.parts.toolbox.only(list(self.tools))


def _reads_of(program: Program, writing: set[str]) -> Program:
    """The statements ahead of the first that names a tool which writes."""
    lines = program.source.splitlines(keepends=True)
    for statement in parse(program.source).body:
        if any(isinstance(node, ast.Name) and node.id in writing for node in ast.walk(statement)):
            return Program("".join(lines[: statement.lineno - 1]))
    return program


def retrieve(task: str, parts: Parts, meter: Meter) -> Toolbox:
    """The tools that the prompt will hold: all where what is told of them fits it, else the best hits with producers.

    All is better than a choice: no search can miss a tool, and the same beginning of every prompt is read only once.
    Else the model may go on searching (`Meter.searching`).
    """
    toolbox, budget, most = parts.toolbox, parts.prompt_tokens, parts.config.max_tools
    names: Sequence[str] = list(toolbox)
    transcript: tuple[str, ...] = ()
    docs = parts.config.docs
    if len(names) > _FEW and not _fit(toolbox, budget, docs):
        names, transcript = names[:most], ()
        try:
            found = parts.finder(meter.asker("retrieve")).search(task, k=most)
            names, transcript = [hit.tool for hit in found.hits] or names, found.transcript
        except BudgetSpent as spent:  # nor is anything left to act with: the strategy's next request ends the run
            transcript = (f"the search ended at {spent.limit}",)
    kept = described_within(toolbox.only(names), budget=budget, docs=docs)[1]
    if len(kept) < len(toolbox) and docs == "full":

        def search(queries: Sequence[str]) -> list[str]:
            finder = parts.finder(None)
            hits = [finder.search(query, k=most).hits for query in queries]
            return [hit.tool for hit in in_turns(hits, toolbox, k=_FOUND)]

        meter.searching = Searching(toolbox, kept, search, budget)
    parts.observer(ToolsChosen(tuple(kept), len(toolbox), transcript))
    return kept


def _fit(toolbox: Toolbox, budget: int, docs: Docs) -> bool:
    """Whether the least that can be said of each tool fits; of very many that need not be written out."""
    if len(toolbox) > budget:
        return False
    least = names_only(toolbox) if docs == "names" else stubs(toolbox, detail=DETAILS[-1])
    return token_estimate(least) <= budget


def _ended(last: Attempt, *, doubt_told: bool) -> bool:
    """Whether an attempt ends the run: with an answer beyond doubt, or one after the model was told of a doubt."""
    return last.paused or (last.answer is not None and (doubt_told or not last.doubts))


def _standing(attempts: Sequence[Attempt], *, confirmed: bool) -> str | None:
    """The answer that stands: one without doubts before one with, a later before an earlier.

    A doubtful one that the model, told so, only followed by programs that failed does not stand, nor, unless the model
    kept to it, that there is nothing: an honest failure is better than a wrong answer.
    """
    answered = [attempt for attempt in attempts if attempt.answer is not None]
    sure = next((attempt.answer for attempt in reversed(answered) if not attempt.doubts), None)
    if sure is not None or not answered:
        return sure
    last = answered[-1].answer or ""
    kept = confirmed or len(answered) > 1
    return last if kept or (answered[-1] is attempts[-1] and not says_nothing(last)) else None


def _without_program(round_: int) -> Attempt:
    fault = Fault(kind="syntax", message="The reply held no Python program.")
    return Attempt(Program(""), (), None, fault, round=round_)


def draft(task: str, parts: Parts) -> tuple[Toolbox, Program | None, tuple[Finding, ...]]:
    """What `solve` would execute first, and what the check finds in it, without any call (`atc run --dry-run`)."""
    meter = parts.meter()
    tools = retrieve(task, parts, meter)
    messages = opening(task, tools, budget=parts.prompt_tokens, docs=parts.config.docs)
    try:
        program = new_program(messages, meter.write, known=(), most=1, temperature=parts.config.temperature)
    except BudgetSpent as spent:
        meter.note(f"{spent.limit}: no more programs were written.")
        program = None
    if program is None:
        return tools, None, ()
    program, findings, mended = checked(task, program, with_named(program, tools, parts.toolbox))
    parts.observer(ProgramWritten(0, program, findings, mended))
    return tools, program, findings
