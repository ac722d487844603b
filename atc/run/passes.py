"""The passes (steps) of one attempt: check a program, fix it, execute it, and judge its answer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from atc.archive.learned_schemas import add_observed_schemas
from atc.core.program import Program
from atc.core.types import Attempt, FaultKind, Finding
from atc.pipeline.attribute import attribute
from atc.pipeline.autofix import autofix
from atc.pipeline.autofix.lookups import look_up_answer
from atc.pipeline.autofix.page_loops import read_every_page
from atc.pipeline.autofix.paging import unread_pages
from atc.pipeline.check import check
from atc.pipeline.doubts import doubts
from atc.pipeline.guessed_links import drop_contradicted_links
from atc.pipeline.invented_values import find_fixed_answer, find_invented_values
from atc.run.program_calls import (
    has_written,
    is_made_write,
    list_outputs,
    merge_calls,
    show_as_made,
)
from atc.run.program_tools import trace_program, with_named
from atc.run.strategy_run import Run
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall, Trace

FIRST_PAGE = "first-page-only"
ID_PRINTED = "id-printed"
MISREAD: frozenset[FaultKind] = frozenset({"misread_result", "drift", "empty_result"})
"""Kinds of faults that mean that the program misread a response."""
RETRY_SECONDS = (0.5, 2.0)
"""Seconds to wait before each new execution of a program that a passing failure has ended."""
_FIX_ROUNDS = 3
"""Maximum number of rounds of automatic fixes; one fix may reveal another problem."""


@dataclass(frozen=True, kw_only=True)
class Passes:
    """The passes (steps) that one attempt goes through, such as the check and the execution.

    Each pass is a method that takes the attempt and returns it with its own result added, or
    unchanged if the pass does not apply. `tools` are those that the program may call. Values in
    `known_text` do not count as invented. `blind` is True if the model had seen no tool output when
    it wrote the program. If `look` is True, the program only shows intermediate results and need
    not answer.
    """

    run: Run
    tools: Toolbox
    known_text: str = ""
    look: bool = False
    blind: bool = True
    holds_writes: bool = False
    """True if the program is to end before its first write, see `program_tools.trace_program`."""

    def check(self, attempt: Attempt) -> Attempt:
        """Check the program, and add the findings (problems) that prevent its execution.

        A problem that depends on the data does not prevent it, because in many executions it does
        not occur.
        """
        program = attempt.program
        found = find_certain(program, self.tools)
        if self.look:
            found = tuple(finding for finding in found if finding.code != "no-output")
        elif self.blind and not found:
            found = find_fixed_answer(program, self.tools)
        outputs = list(list_outputs(self.run.attempts))
        calls = [call for earlier in self.run.attempts for call in earlier.calls]
        linked = drop_contradicted_links(self.tools, calls)
        invented = find_invented_values(program, self.known_text, linked, outputs)
        return replace(attempt, findings=(*found, *invented))

    def autofix(self, attempt: Attempt) -> Attempt:
        """Fix the program automatically before it is executed.

        The attempt is returned unchanged unless the fixes remove all findings of the check.
        """
        fixed = attempt
        for _ in range(_FIX_ROUNDS):
            if not fixed.findings:
                break
            program = autofix(fixed.program, fixed.findings, self.tools)
            if program is None:
                return attempt
            fixed = self.check(replace(fixed, program=program, mended=attempt.findings))
        return attempt if fixed.findings else fixed

    def insists(self, attempt: Attempt) -> bool:
        """Return True if the model insists on a program that may be right in spite of its findings.

        It insists if every finding (problem) in this program was already found in an earlier one,
        and so reported to the model. The program may be right if its findings are suspicions, or
        rest on a tool's response schema, because such a schema may be wrong.
        """
        earlier = [found for before in self.run.attempts for found in before.findings]
        told = {(found.code, found.tool) for found in earlier}
        repeated = {(found.code, found.tool) for found in attempt.findings}
        return repeated <= told and may_be_right(attempt.findings, attempt.program, self.tools)

    def execute(self, attempt: Attempt) -> Attempt:
        """Execute the program, unless the check found problems, and find the cause of a failure.

        If `look` is True, a missing answer is not a failure.
        """
        trace = None
        if not attempt.findings:
            trace = self._trace(attempt.program)
        attempt = self._attribute(replace(attempt, trace=trace))
        if self.look and attempt.fault is not None and attempt.fault.kind == "no_answer":
            return replace(attempt, fault=None)
        return attempt

    def repeat_failures_of_same_program(self, attempt: Attempt) -> None:
        """Repeat the failures that the last program caught if this one is the same.

        This is so only if a failure that may pass ended the last program: the model was told then
        that its program need not change. Otherwise it may wait for a call to succeed.
        """
        last = self.run.attempts[-1] if self.run.attempts else None
        if last is None or last.execution is None or last.program.source != attempt.program.source:
            return
        failed = self._find_passing_failure(last)
        if failed is not None:
            self.run.parts.journal.repeat(since=last.execution, ended_by=failed.index)

    def rerun_after_passing_failure(self, attempt: Attempt) -> Attempt:
        """Execute the program again after a failure that may pass, such as a 503.

        The model is not asked. Only the call that ended the program is made again: the journal
        answers the calls that succeeded, and repeats the failures that the program caught. The run
        waits before each try, and gives up if this would exceed its time limit. The result is that
        of the last try. If a write failed, or was made after the failure, the program is not
        executed again: the model decides what to do.
        """
        journal = self.run.parts.journal
        first = journal.execution
        for seconds in RETRY_SECONDS:
            left = self.run.meter.seconds_left
            is_late = left is not None and left <= seconds
            failed = self._find_passing_failure(attempt)
            if failed is None or is_late:
                break
            time.sleep(seconds)
            journal.repeat(since=first, ended_by=failed.index)
            again = self.execute(attempt)
            if again.trace is not None:
                calls = show_as_made(again.trace.calls, attempt)
                again = replace(again, trace=replace(again.trace, calls=calls))
            attempt = again
        return attempt

    def _find_passing_failure(self, attempt: Attempt) -> ToolCall | None:
        """Return the failed read that ended the program, if it may succeed now, or None.

        The result is None if the program made a write after the failure, because the program would
        not make this write if the read succeeded.
        """
        fault = attempt.fault
        if fault is None or fault.cure != "retry":
            return None
        failed = next((call for call in attempt.calls if call.index == fault.call), None)
        if failed is None:
            return None
        after = [call for call in attempt.calls if call.follows(failed)]
        is_write = any(is_made_write(call, self.run.parts) for call in after)
        writes = self.run.parts.toolbox[failed.tool].protocol.writes
        return None if writes or is_write else failed

    def rerun_with_fixed_reading(self, attempt: Attempt) -> Attempt:
        """Fix a program that misread results without a response schema, and execute it again.

        The program is changed to read the only list in a result, or the key most similar to the
        wrong one. One such mistake may hide another, so this is repeated until the program gives an
        answer or nothing can be fixed. If there is no answer in the end, the attempt is returned
        unchanged.
        """
        fixed = attempt
        for _ in range(_FIX_ROUNDS):
            if fixed.fault is None or fixed.fault.kind not in {*MISREAD, "error"}:
                break
            if has_written(fixed, self.run.parts):
                break
            observed = add_observed_schemas(self.tools, fixed.calls, exactly=True)
            if observed is self.tools:
                break
            found = find_certain(fixed.program, observed)
            program = autofix(fixed.program, found, observed) if found else None
            if program is None:
                break
            fixed = self.rerun(fixed, program, found)
        return fixed if fixed.answer is not None else attempt

    def rerun_with_every_page(self, attempt: Attempt) -> Attempt:
        """Rewrite a program that read only the first page of a result, and execute it again.

        A program that found no row on this page and stopped, as `next(…)` does, is rewritten, too.
        """
        if attempt.trace is None:
            return attempt
        failure = attempt.trace.failure
        if attempt.answer is None and (failure is None or failure.type != "StopIteration"):
            return attempt
        found = unread_pages(attempt.program, attempt.trace, self.tools, task=self.run.task)
        for unread in found:
            program = read_every_page(attempt.program, unread, self.tools)
            message = f"{unread.tool}: {unread.evidence} was read."
            read = self._replace_program(attempt, program, FIRST_PAGE, message)
            if read is not attempt:
                self.run.meter.note(
                    f"{unread.tool}: the program read only a part ({unread.evidence}), so all"
                    " pages were read."
                )
            attempt = read
        return attempt

    def rerun_with_lookup(self, attempt: Attempt) -> Attempt:
        """If a program printed only an id, change it to print the name, and execute it again."""
        answer = attempt.answer
        if answer is None or attempt.trace is None:
            return attempt
        task = self.run.parts.context.add_form_to(self.run.task)
        program = look_up_answer(
            task, attempt.program, attempt.trace, answer, self.run.parts.toolbox
        )
        message = f"{answer[:40]!r} is no more than an id."
        return self._replace_program(attempt, program, ID_PRINTED, message)

    def doubt(self, attempt: Attempt) -> Attempt:
        """If the attempt has an answer, add the reasons to doubt it, such as unread pages."""
        answer = attempt.answer
        if answer is None or attempt.trace is None:
            return attempt
        context = self.run.parts.context
        found = doubts(
            context.add_form_to(self.run.task),
            attempt.program,
            attempt.trace,
            answer,
            self.tools,
            rules=context.rules,
            earlier=context.with_earlier_tasks(""),
        )
        return replace(attempt, doubts=found)

    def doubt_reading(self, attempt: Attempt) -> Attempt:
        """Doubt the answer if the program is wrong according to the responses that it received.

        The check is repeated with response schemas that are derived from these responses. If it
        finds certain errors in the use of the called tools, they become doubts about the answer.
        """
        if attempt.answer is None:
            return attempt
        came = {call.tool for call in attempt.calls if call.error is None}
        found = find_certain(attempt.program, add_observed_schemas(self.tools, attempt.calls))
        wrong = [
            f"Line {one.line}: {one.message}"
            for one in found
            if one.tool is None or one.tool in came
        ]
        return replace(attempt, doubts=(*attempt.doubts, *wrong))

    def check_type(self, attempt: Attempt) -> Attempt:
        """Add a fault if the answer is not of the requested type."""
        output = self.run.parts.output
        return attempt if output is None or self.look else output.check_attempt(attempt)

    def _replace_program(
        self, attempt: Attempt, program: Program | None, code: str, message: str
    ) -> Attempt:
        """Execute `program` in place of the attempt's program.

        The attempt is returned unchanged if `program` is None, if the check finds certain problems
        in it, or if it gives no answer.
        """
        if program is None or has_written(attempt, self.run.parts):
            return attempt
        tools = with_named(program, self.tools, self.run.parts.toolbox)
        if find_certain(program, tools):
            return attempt
        found = Finding(code=code, message=message, line=1)
        again = replace(self, tools=tools).rerun(attempt, program, [found])
        return again if again.answer is not None else attempt

    def rerun(self, attempt: Attempt, program: Program, found: Sequence[Finding]) -> Attempt:
        """Execute `program` in place of the attempt's own, in order to fix the findings `found`.

        Calls that the attempt has made are not sent again: their responses are taken from the run's
        journal.
        """
        trace = self._trace(program)
        trace = replace(trace, calls=merge_calls(trace.calls, attempt))
        again = replace(attempt, program=program, trace=trace, mended=(*attempt.mended, *found))
        return self._attribute(again)

    def _trace(self, program: Program) -> Trace:
        """Execute a program with the tools of the attempt and return its trace."""
        return trace_program(self.run, program, self.tools, holds_writes=self.holds_writes)

    def _attribute(self, attempt: Attempt) -> Attempt:
        """Add the fault that explains a failure of the attempt, and the number of its execution.

        The journal of the run numbers the executions.
        """
        fault = attribute(attempt.program, attempt.findings, attempt.trace, self.tools)
        execution = None if attempt.trace is None else self.run.parts.journal.execution
        return replace(attempt, fault=fault, execution=execution)


def find_certain(program: Program, tools: Toolbox) -> tuple[Finding, ...]:
    """Return the problems that the static check finds and that do not depend on the data."""
    return tuple(finding for finding in check(program, tools) if finding.certain)


_SUSPICIONS = {"made-up-value", "fixed-answer"}
"""Codes of findings that contradict no schema: the program only looks as if it guessed."""


def are_suspicions(findings: Sequence[Finding]) -> bool:
    """Return True if there are findings, and none of them contradicts a schema."""
    return bool(findings) and {found.code for found in findings} <= _SUSPICIONS


def rests_on_responses(findings: Sequence[Finding], program: Program, tools: Toolbox) -> bool:
    """Return True if there would be no findings without the tools' response schemas."""
    is_suspected = any(found.code in _SUSPICIONS for found in findings)
    return not is_suspected and may_be_right(findings, program, tools)


def may_be_right(findings: Sequence[Finding], program: Program, tools: Toolbox) -> bool:
    """Return True if a program may be right in spite of its findings.

    That is so if each of them rests on a response schema, which may be wrong, or is a suspicion.
    """
    if not findings:
        return False
    silent = tools.map(
        lambda tool: replace(tool, protocol=replace(tool.protocol, output_schema=None))
    )
    return not find_certain(program, silent)
