"""The strategy `chain`: the model writes one program for the whole task.

If the program fails, the model gets the facts about the failure and writes a corrected program.
(ATC stands for "automatic tool chain".)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from atc.core.draft import Draft
from atc.core.events import ProgramWritten
from atc.core.program import Program
from atc.core.types import Attempt, Solution
from atc.pipeline.repair import RepairCase, correction, worth_repairing
from atc.pipeline.synthesize import build_program_prompt, new_program
from atc.run.attempt import attempt, prepare
from atc.run.model_budget import BudgetSpent
from atc.run.passes import are_suspicions, rests_on_responses
from atc.run.program_calls import find_writes
from atc.run.program_tools import with_named, writing_tools
from atc.run.strategy_run import Parts, Run
from protocols.model import Message

_MOST_LOOKS = 4
"""Number of programs of a run that may only look at values without being counted as a repair."""
UNCHANGED = "the model wrote the same program again, which would fail as it did."


def solve(task: str, parts: Parts) -> Solution:
    """Retrieve tools; then write, check, execute and repair programs until an answer is accepted.

    The run also ends when the budget is used up.
    """
    return Chain(task, parts).solve()


class Chain(Run):
    """One run of the strategy `chain`.

    `tried` are programs that need not run again, because they would fail in the same way. A program
    that was stopped by a tool's failure is not among them, because such a failure may be transient.
    `confirmed` is True if the model got the reasons to doubt its answer and repeated the
    program. `blind` is True if the model had seen no tool output when it wrote the current program,
    although an attempt has made calls since. If `blind` is None, this is derived from the attempts.
    """

    def __init__(self, task: str, parts: Parts) -> None:
        super().__init__(task, parts)
        self.tried: set[str] = set()
        self.confirmed = False
        self.blind: bool | None = None
        self._repairs_left = parts.config.max_repairs
        self._looks_left = _MOST_LOOKS

    def should_leave(
        self,
        attempts: Sequence[Attempt],  # noqa: ARG002 - of `auto`
        program: Program | None = None,  # noqa: ARG002 - of `auto`
    ) -> bool:
        """Return True if the run shall continue with another strategy. In this class it never does.

        The subclass in `auto` overrides this method. It is called after the given attempts, and
        before `program` is executed.
        """
        return False

    def act(self) -> None:
        """Write a program, execute it, and repair it until it gives an answer.

        The model gets each program's fault before it writes the next one.
        """
        config = self.parts.config
        turns = list[Message]()
        shown: Program | None = None  # the program that the last repair prompt shows
        while True:
            messages = [*self.opening(), *turns]
            program = new_program(
                messages,
                self.write,
                known=self.tried,
                most=self.parts.samples,
                temperature=config.temperature,
                base=shown,
            )
            if self._is_settled(program):
                self._accept_repetition()
                return
            if program is not None and self.should_leave(self.attempts, program):
                return
            before = len(self.attempts)
            self._attempt(program)
            if self._has_ended(before) or not self._may_write_another():
                return
            if self.should_leave(self.attempts):
                return
            case = RepairCase(
                worth_repairing(self.attempts[before:]),
                self.parts.toolbox,
                complete=self.meter.complete,
                orphans=tuple(find_writes(self).values()),
                messages=tuple(messages),
                docs=self.parts.docs,
                earlier=self.attempts[:before],
                made=[call for attempt in self.attempts for call in attempt.calls],
                takes_same=not self.parts.is_small,
                takes_lines=not self.parts.is_small,
            )
            shown = case.attempt.program
            turns += correction(case, config.repair)

    def opening(self) -> list[Message]:
        """Build the messages that ask for a program, with the tools of `shown_tools`."""
        shown = self.shown_tools()
        return build_program_prompt(
            self.prompt_task,
            shown.full,
            budget=self.parts.prompt_tokens,
            docs=self.parts.docs,
            nearest=shown.nearest,
            by_name=shown.by_name,
            small=self.parts.is_small,
        )

    def _is_settled(self, program: Program | None) -> bool:
        """Return True if a program was tried before and would have the same result again.

        There is one exception. If the last program was not executed because it only looked as if
        it guessed values, and the model repeats it, the model insists on it. Return False then.
        """
        if program is None or program.source not in self.tried:
            return False
        last = self.attempts[-1]
        return last.program.source != program.source or not are_suspicions(last.findings)

    def _may_write_another(self) -> bool:
        """Return True if the model may write another program, and count it.

        A program that only looked at values costs no repair. Neither does a doubtful answer, about
        which the model is asked once.
        """
        config = self.parts.config
        last = self.attempts[-1]
        if last.only_looked and self._looks_left > 0:
            self._looks_left -= 1
            return True
        if config.repair == "none" or config.max_repairs == 0:
            return False
        self.round += 1
        if last.answer is not None:
            return True
        self._repairs_left -= 1
        return self._repairs_left >= 0

    def _accept_repetition(self) -> None:
        """End the run because the model repeated a program.

        If the program gave an answer, this confirms the answer.
        """
        self.confirmed = self.attempts[-1] in self._answered(self.attempts)
        if not self.confirmed:
            self.meter.note(UNCHANGED)
            self.should_leave([*self.attempts, replace(self.attempts[-1], round=self.round)])

    def _has_ended(self, before: int) -> bool:
        """Return True if the last attempt is paused or `denied`, or needs no confirmation.

        An answer without doubts is accepted. If there are reasons to doubt it, the model is asked
        to confirm it. The model is asked only once: if one of the first `before` attempts gave an
        answer, a new answer is accepted.
        """
        last = self.attempts[-1]
        was_asked = bool(self._answered(self.attempts[:before]))
        if last.paused or self.denied:
            return True
        return last.answer is not None and (was_asked or not last.doubts)

    def look(self, program: Program) -> Attempt:
        """Execute a program up to its first write, only to learn what the tools return.

        Its output is not an answer to the task.
        """
        return attempt(self, program, holds_writes=True)

    def _answered(self, attempts: Sequence[Attempt]) -> list[Attempt]:
        """Return those of `attempts` that gave an answer."""
        return [
            attempt for attempt in attempts if attempt.answer is not None and not attempt.is_look
        ]

    def choose_answer(self) -> None:
        """Set `answer` to the last answer without doubts, or else to the last one.

        The doubts about it are open, with one exception: the model got them in a prompt, and then
        repeated its program (`confirmed`) or gave the same answer. A small model repeats itself
        whether it is right or not, so that this confirms nothing.
        """
        answered = self._answered(self.attempts)
        if not answered:
            return
        sure = (attempt for attempt in reversed(answered) if not attempt.doubts)
        best = next(sure, answered[-1])
        self.answer = best.answer
        told = {doubt for attempt in answered[:-1] for doubt in attempt.doubts}
        is_given_again = any(one.answer == best.answer for one in answered[:-1])
        is_confirmed = self.confirmed or is_given_again or told.issuperset(best.doubts)
        if self.parts.is_small or not is_confirmed:
            self.open_doubts = best.doubts

    def _attempt(self, program: Program | None) -> None:
        """Check and execute a program.

        A program that contradicts a response schema is not executed unless the model repeats it. If
        such a repeated program also writes, it is executed in two steps: first up to its first
        write, then as a whole, if it does not contradict the responses to the reads before.
        """
        if program is None:
            self.not_run("The reply held no Python program.")
            return
        passes = prepare(self, program, blind=False)
        writing = writing_tools(program, passes.tools)
        insists = writing and passes.insists(passes.autofix(passes.check(Attempt(program))))
        if insists and self.look(program).paused:
            return
        result = attempt(self, program, blind=self.blind)
        kind = None if result.fault is None else result.fault.kind
        known = with_named(program, self.tools, self.parts.toolbox)
        if kind not in ("tool_failed", "unknown_outcome") and not rests_on_responses(
            result.findings, program, known
        ):
            self.tried |= {program.source, result.program.source}


def draft(task: str, parts: Parts) -> Draft:
    """Return the program that `solve` would execute first, and the problems found in it.

    No tool is called. `atc run --dry-run` shows this program.
    """
    run = Chain(task, parts)
    tools = run.tools
    try:
        program = new_program(
            run.opening(), run.write, known=(), most=1, temperature=parts.config.temperature
        )
    except BudgetSpent as spent:
        run.meter.note(f"{spent.limit}: no more programs were written.")
        program = None
    if program is None:
        return Draft(tools=tools)
    passes = prepare(run, program)
    checked = passes.autofix(passes.check(Attempt(program)))
    parts.observer(ProgramWritten(0, checked.program, checked.findings, checked.mended))
    return Draft(tools=tools, program=checked.program, findings=checked.findings)
