"""Step by step: a program that grows piece by piece, each piece written with the results so far in view.

A piece that fails is dropped: its calls stay in the journal, and what it wrote in view.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from atc.core.prompts import fill
from atc.core.types import Attempt, Program, Solution
from atc.pipeline.repair.facts import RepairCase, describe_writes, facts
from atc.pipeline.repair.responses import escape_fences, format_results
from atc.pipeline.synthesize import new_program
from atc.run.attempt import (
    attempt,
    find_writes,
    number_calls,
    rests_on_responses,
    seen_output,
    trace_program,
    writing_tools,
)
from atc.run.conversation import (
    Turn,
    Turns,
    build_opening,
    longest_shown,
    paragraphs,
    room_for_turns,
    shown_value,
)
from atc.run.growing_program import (
    GrowingProgram,
    first_block,
    new_lines,
    to_finished_program,
    to_unfinished_program,
)
from atc.run.strategy_run import Parts, Run, drop_undone
from atc.strategies.chain import UNCHANGED
from protocols.model import Completion, Message
from protocols.render import token_estimate
from protocols.truncate import abridge_output, clip_text
from sandbox.trace import ToolCall, Trace

MOST_PIECES = 12
"""Pieces that a program may have; those that failed and were told of, up to `max_repairs`, come on top."""
REPEATED = "the model wrote the same piece again and again."
_MOST_ALIKE = 3
"""Pieces in a row that may be the same: they may count on, or wait for something."""
_LONGEST_ANSWER = 300
_SPOKEN = re.compile(
    r"^[^\w\n]*(?:final\s+)?answer\s*:[\s*_`]*(?P<answer>\S.*)$", re.IGNORECASE | re.MULTILINE
)


def solve(task: str, parts: Parts) -> Solution:
    """Let a program grow until a piece prints the answer or the budget is spent.

    The answer is what `print("ANSWER:", …)` prints.
    """
    return Stepwise(task, parts).solve()


@dataclass(frozen=True, slots=True)
class _Step:
    """A piece as it ran, what became of it, whether it gave an answer, and else what it showed."""

    piece: str
    result: Attempt
    answers: bool = False
    output: str = ""


class Stepwise(Run):
    """One run; it may go on with one that another strategy has `begun` (see `Run`), whose results are shown first."""

    def __init__(self, task: str, parts: Parts, **begun: Any) -> None:
        super().__init__(task, parts, **begun)
        self.growing = GrowingProgram(parts.journal)
        self.round = max((attempt.round + 1 for attempt in self.attempts), default=0)
        self.failing = 0  # pieces that failed in a row
        self.failed: frozenset[str] = frozenset()  # those of them that would fail as they did
        budget = parts.prompt_tokens
        docs = parts.config.docs
        room = room_for_turns(budget)
        self.known = ""  # results of the attempts before
        if calls := [call for attempt in self.attempts for call in attempt.calls]:
            self.known = fill(
                "step_known", calls=escape_fences(format_results(calls, self.tools, most=room))
            )
        rules = fill("step")
        example = fill("step_example")
        start = build_opening(
            rules,
            example,
            task,
            self.tools,
            told=_format_next,
            said=_format_piece,
            budget=budget,
            docs=docs,
            more=self.known,
        )
        self.turns = Turns(start, room - token_estimate(self.known))

    def act(self) -> None:
        """Piece after piece."""
        turns = MOST_PIECES + self.parts.config.max_repairs
        for turn in range(1, turns + 1):
            step = self._step()
            if step is None or self._finish_step(step):
                return
            self._tell(step, last=turn == turns - 1)
        self.limit = f"{MOST_PIECES} pieces"

    def _messages(self) -> list[Message]:
        """The prompt for the next piece, with the writes that stand though the program does not make them."""
        return self.turns.messages(describe_writes(self._find_standing_writes()))

    def _step(self) -> _Step | None:
        """The next piece, as it ran; None where one that failed came back as it was, or the same came too often."""
        config = self.parts.config
        blind = not seen_output(self.attempts)
        piece = new_program(
            self._messages(),
            self._complete,
            known=self.failed,
            most=self.parts.samples,
            temperature=config.temperature,
        )
        if piece is None:
            return _Step("", self.not_run("The reply held no Python program."))
        alike = [turn.reply_text for turn in self.turns.taken[-_MOST_ALIKE:]] == [
            _format_piece(piece.source)
        ] * _MOST_ALIKE
        if alike or piece.source in self.failed:
            self.meter.note(REPEATED if alike else UNCHANGED)
            return None
        step = self._attempt_piece(piece, blind=blind)
        result = step.result
        fails_again = not rests_on_responses(result.findings, result.program, self.parts.toolbox)
        self.failed = (
            self.failed | {piece.source}
            if result.fault is not None and fails_again
            else frozenset()
        )
        return step

    def _complete(
        self, messages: Sequence[Message], *, purpose: str, temperature: float, seed: int
    ) -> Completion:
        """The model's reply, up to where it would go on with outputs of its own."""
        completion = self.meter.write(messages, purpose=purpose, temperature=temperature, seed=seed)
        return replace(completion, text=next_piece(completion.text))

    def _attempt_piece(self, piece: Program, *, blind: bool) -> _Step:
        """The program with the piece, executed: as the finished program first where the piece may give the answer."""
        writing = writing_tools(piece, self.parts.toolbox)
        new = new_lines(self.growing.program, piece, self.parts.toolbox, writing)
        if new is None:
            return _Step(
                piece.source, self.not_run("These lines stand in the program already.", piece)
            )
        whole = self.growing.with_piece(new)
        self.growing.preanswer_calls()
        if (bare := to_finished_program(whole)) is not None:
            result = self._attempt(bare, blind=blind)
            trace = result.trace
            if trace is None or trace.failure is not None or trace.stdout.strip():
                return _Step(new.source, result, answers=result.answer is not None)
            self.growing.preanswer_calls(result.calls)
        result = self._attempt(whole, blind=blind, look=True)
        kept = self.growing.program.source.rstrip()
        source = result.program.source
        as_run = (
            source.removeprefix(kept).lstrip("\n")
            if kept and source.startswith(kept)
            else new.source
        )
        return _Step(as_run, result, output=self._format_output(result))

    def _attempt(self, program: Program, *, blind: bool, look: bool = False) -> Attempt:
        seen = "\n".join([self.known, *(turn.feedback for turn in self.turns.taken)])
        return attempt(self, program, blind=blind, seen=seen, look=look)

    def _format_output(self, result: Attempt) -> str:
        """What a piece showed: its output, or else its value, or else what its calls gave."""
        trace = result.trace
        most = longest_shown(self.parts.prompt_tokens)
        if trace is None:
            return ""
        if output := self.growing.last_output(trace).strip():
            return escape_fences(abridge_output(output, most=most))
        if result.fault is not None:
            return ""
        if trace.value is not None:
            return escape_fences(shown_value(trace.value, most=most))
        new = trace.calls[len(self.growing.issued) :]
        gave = format_results(new, self.parts.toolbox, most=most) if new else ""
        return escape_fences(f"(nothing was printed)\n{gave}".strip())

    def _finish_step(self, step: _Step) -> bool:
        """Whether the run is over. A piece that ran stands from here on."""
        result = step.result
        config = self.parts.config
        if result.fault is not None:
            self.failing += 1
            return result.paused or self.failing > config.max_repairs or config.repair == "none"
        self.failing = 0
        trace: Trace = result.trace if result.trace is not None else Trace()
        if not step.answers:
            self.growing.take(result.program, trace)
            return False
        self.growing.issued = trace.calls
        questioned = self.answer is not None
        self.answer = result.answer
        if questioned or not (result.doubts or self._find_standing_writes()):
            return True
        # What it prints is known when it has run as it stands; the journal answers its calls.
        program = to_unfinished_program(result.program)
        self.growing.preanswer_calls(trace.calls)
        self.growing.take(program, trace_program(self, program, self.tools))
        return False

    def _tell(self, step: _Step, *, last: bool) -> None:
        """Add to the conversation what became of the piece."""
        result = step.result
        told = [fill("step_output", output=step.output)] if step.output else []
        then = fill("step_last" if last else "step_next")
        if result.fault is not None and (result.findings or result.trace is not None):
            told.append(self._describe_failure(step))
            line = (
                len(result.program.source.rstrip().splitlines())
                - len(step.piece.rstrip().splitlines())
                + 1
            )
            then = then if last else fill("step_again", line=str(line))
        elif result.fault is not None:
            told.append(result.fault.message)
        elif step.answers:
            told.append(_format_doubts(result))
        self.round += bool(result.fault or step.answers)
        self.turns.taken.append(
            Turn(reply_text=_format_piece(step.piece), feedback=paragraphs([*told, then]))
        )

    def _describe_failure(self, step: _Step) -> str:
        """What is known of a piece's failure, as a repair of a whole program tells it."""
        case = _FailedPiece(
            attempt=step.result,
            tools=self.parts.toolbox,
            complete=self.meter.complete,
            messages=tuple(self._messages()),
            docs=self.parts.config.docs,
            piece=step.piece,
        )
        return facts(case)[-1].content

    def _find_standing_writes(self) -> tuple[ToolCall, ...]:
        """Writes that were made and that the program does not make: those of dropped pieces, unless undone since.

        Read from the attempts alone: when a run goes on, its journal knows what comes later, too.
        """
        made = [
            call for attempt in self.attempts for call in attempt.calls if call.outcome == "done"
        ]
        issued = {key for key, _ in number_calls(self.growing.issued)}
        standing = [call for key, call in find_writes(self).items() if key not in issued]
        return drop_undone(standing, made, self.parts.toolbox)


@dataclass(frozen=True, slots=True, kw_only=True)
class _FailedPiece(RepairCase):
    """A program of which only the last piece is to be written again."""

    piece: str

    @property
    def program_message(self) -> Message:
        """The model's own turn: the piece."""
        return Message("assistant", _format_piece(self.piece))

    def rewrite(self, parts: Iterable[str]) -> Message:
        """What there is to say; what is asked for, and the writes that stand, are told with every turn."""
        return Message("user", paragraphs(parts))


def next_piece(reply: str) -> str:
    """The reply up to the end of its first block; an answer in words without one (`ANSWER: 5`) as what prints it."""
    if "```" not in reply and (spoken := _SPOKEN.search(reply)):
        return f"```python\nprint('ANSWER:', {spoken['answer'].rstrip(' *_`')!r})\n```"
    return first_block(reply)


def _format_doubts(result: Attempt) -> str:
    """What speaks against an answer: its doubts, or changes that its program did not make."""
    doubts = result.doubts or ("changes were made that are no part of the program, see below.",)
    answer = clip_text(result.answer or "", _LONGEST_ANSWER)
    return fill("step_doubt", answer=answer, doubts="\n".join(f"- {doubt}" for doubt in doubts))


def _format_next(output: str) -> str:
    """What a piece printed, and that the next one is to follow."""
    return paragraphs([fill("step_output", output=output), fill("step_next")])


def _format_piece(piece: str) -> str:
    """A piece as the model's turn."""
    source = piece.strip("\n")
    return f"```python\n{source}\n```" if source.strip() else "(no program)"
