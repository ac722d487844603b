"""The strategy `stepwise`: a program grows piece by piece.

The model sees the results so far when it writes each piece. A piece that fails is removed from the
program. Its calls remain recorded, and the prompt still mentions its writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from atc.core.program import Program
from atc.core.prompts import fill
from atc.core.replies import says_same
from atc.core.types import Attempt, Solution
from atc.pipeline.repair.facts import RepairCase, describe_writes, facts
from atc.pipeline.repair.responses import escape_fences, format_results
from atc.pipeline.synthesize import new_program
from atc.run.attempt import attempt
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
from atc.run.passes import rests_on_responses
from atc.run.program_calls import find_writes, number_calls, seen_output
from atc.run.program_tools import trace_program, writing_tools
from atc.run.strategy_run import Parts, Run
from atc.run.undone_writes import drop_undone
from atc.strategies.chain import UNCHANGED
from protocols.model import Completion, Message
from protocols.render import token_estimate
from protocols.truncate import abridge_output, clip_text
from sandbox.trace import ToolCall, Trace

MOST_PIECES = 12
"""Maximum number of pieces of a program, in addition to up to `max_repairs` failed pieces."""
REPEATED = "the model wrote the same piece again and again."
_MOST_ALIKE = 3
"""Maximum number of equal pieces in a row.

A few are allowed, because they may count or wait for something.
"""
_LONGEST_ANSWER = 300
_SPOKEN = re.compile(
    r"^[^\w\n]*(?:final\s+)?answer\s*:[\s*_`]*(?P<answer>\S.*)$", re.IGNORECASE | re.MULTILINE
)


def solve(task: str, parts: Parts) -> Solution:
    """Let a program grow until a piece prints the answer or the budget is used up.

    The answer is what `print("ANSWER:", …)` prints.
    """
    return Stepwise(task, parts).solve()


@dataclass(frozen=True, slots=True)
class _Step:
    """A piece of the program, and the outcome of its execution.

    `result` is the attempt in which the piece was executed. `answers` is True if the attempt gave
    an answer; otherwise `output` is shown to the model.
    """

    piece: str
    result: Attempt
    answers: bool = False
    output: str = ""


class Stepwise(Run):
    """One run of the strategy `stepwise`.

    The run may have been begun by another strategy. Then `begun` are the tools, tool search, meter
    and attempts of that run (the arguments of `Run`), and the results of that run are shown to the
    model first.
    """

    def __init__(self, task: str, parts: Parts, **begun: Any) -> None:
        super().__init__(task, parts, **begun)
        self.growing = GrowingProgram(parts.journal)
        self.round = max((attempt.round + 1 for attempt in self.attempts), default=0)
        self.failing = 0  # number of consecutive failed pieces
        # failed pieces that would fail again in the same way
        self.failed: frozenset[str] = frozenset()
        room = room_for_turns(parts.prompt_tokens)
        self.known = ""  # results of earlier attempts, as prompt text
        self.is_confirmed = False  # True once the model said SAME to a doubtful answer
        if calls := [call for attempt in self.attempts for call in attempt.calls]:
            self.known = fill(
                "step_known", calls=escape_fences(format_results(calls, self.tools, most=room))
            )
        self.turns = Turns(self._build_opening(), room - token_estimate(self.known))

    def _build_opening(self) -> list[Message]:
        """Build the opening of the conversation, with the tools of `shown_tools`."""
        parts = self.parts
        shown = self.shown_tools()
        rules = fill("step") if parts.is_small else f"{fill('step')}\n{fill('abilities')}"
        return build_opening(
            rules,
            fill("step_example"),
            self.prompt_task,
            shown.full,
            told=_format_next_request,
            said=_format_piece,
            budget=parts.prompt_tokens,
            docs=parts.docs,
            nearest=shown.nearest,
            by_name=shown.by_name,
            more=self.known,
        )

    def act(self) -> None:
        """Add pieces until there is an answer."""
        turns = MOST_PIECES + self.parts.config.max_repairs
        for turn in range(1, turns + 1):
            step = self._step()
            if step is None or self._finish_step(step):
                return
            self._tell(step, last=turn == turns - 1)
        self.limit = f"{MOST_PIECES} pieces"

    def _messages(self) -> list[Message]:
        """Return the prompt for the next piece.

        It mentions the writes that took effect but are not in the program.
        """
        self.turns.opening = self._build_opening()
        return self.turns.messages(describe_writes(self._find_standing_writes()))

    def _step(self) -> _Step | None:
        """Let the model write the next piece, execute it, and return it with its outcome.

        None if the model confirmed its answer, repeated a piece that had failed, or wrote the same
        piece too often.
        """
        config = self.parts.config
        blind = not seen_output(self.attempts)
        piece = new_program(
            self._messages(),
            self._complete,
            known=self.failed,
            most=self.parts.samples,
            temperature=config.temperature,
        )
        if self.is_confirmed:
            self.open_doubts = ()
            return None
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
        fails_again = result.fault is not None and result.fault.cure != "retry"
        if rests_on_responses(result.findings, result.program, self.parts.toolbox):
            fails_again = False
        self.failed = self.failed | {piece.source} if fails_again else frozenset()
        return step

    def _complete(
        self, messages: Sequence[Message], *, purpose: str, temperature: float, seed: int
    ) -> Completion:
        """Return the model's reply, cut before any output that it invents."""
        completion = self.write(messages, purpose=purpose, temperature=temperature, seed=seed)
        self.is_confirmed = self.answer is not None and says_same(completion.text)
        return replace(completion, text=next_piece(completion.text))

    def _attempt_piece(self, piece: Program, *, blind: bool) -> _Step:
        """Execute the program with the piece at its end.

        If the piece may give the answer, the program is first changed so that it prints only its
        answer, and executed. If it then prints nothing, the unchanged program is executed.
        """
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
        """Return the result of a piece as the model is shown it.

        It is what the piece printed, else the value of its last expression, else the results of its
        calls.
        """
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
        """Add the piece to the program unless it failed. Return True if the run is over."""
        result = step.result
        config = self.parts.config
        if result.fault is not None:
            self.failing += 1
            is_last = self.failing > config.max_repairs or config.repair == "none"
            return result.paused or self.denied or is_last
        self.failing = 0
        trace: Trace = result.trace if result.trace is not None else Trace()
        if not step.answers:
            self.growing.take(result.program, trace)
            return False
        self.growing.issued = trace.calls
        questioned = self.answer is not None
        is_told = questioned and set(result.doubts) <= set(self.open_doubts)
        self.answer = result.answer
        self.open_doubts = () if is_told else result.doubts
        if questioned or not (result.doubts or self._find_standing_writes()):
            return True
        # Run the program with its original prints to know its output; the journal answers its
        # calls.
        program = to_unfinished_program(result.program)
        self.growing.preanswer_calls(trace.calls)
        self.growing.take(program, trace_program(self, program, self.tools))
        return False

    def _tell(self, step: _Step, *, last: bool) -> None:
        """Add a piece to the conversation with the model, and its outcome as feedback.

        `last` is True if the model can write only one more piece.
        """
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
            again = "step_retry" if result.fault.cure == "retry" else "step_again"
            then = then if last else fill(again, line=str(line))
        elif result.fault is not None:
            told.append(result.fault.message)
        elif step.answers:
            told.append(_format_confirmation_request(result, takes_same=self.parts.samples == 1))
        self.round += bool(result.fault or step.answers)
        self.turns.taken.append(
            Turn(reply_text=_format_piece(step.piece), feedback=paragraphs([*told, then]))
        )

    def _describe_failure(self, step: _Step) -> str:
        """Return what is known about a piece's failure, in the form of a repair prompt."""
        case = _FailedPiece(
            attempt=step.result,
            tools=self.parts.toolbox,
            complete=self.meter.complete,
            messages=tuple(self._messages()),
            docs=self.parts.docs,
            piece=step.piece,
        )
        return facts(case)[-1].content

    def _find_standing_writes(self) -> tuple[ToolCall, ...]:
        """Return the writes that took effect but are not in the program.

        They were made by pieces that were removed from the program, and have not been undone. They
        are read from the attempts, not from the run's journal. The journal of a resumed run also
        contains calls that come later than these attempts.
        """
        made = [
            call for attempt in self.attempts for call in attempt.calls if call.outcome == "done"
        ]
        issued = {key for key, _ in number_calls(self.growing.issued)}
        standing = [call for key, call in find_writes(self).items() if key not in issued]
        return drop_undone(standing, made, self.parts.toolbox)


@dataclass(frozen=True, slots=True, kw_only=True)
class _FailedPiece(RepairCase):
    """A failed program, for a repair prompt that asks to write only its last piece again."""

    piece: str

    @property
    def program_message(self) -> Message:
        """The message of the model that contains the piece."""
        return Message("assistant", _format_piece(self.piece))

    def rewrite(self, parts: Iterable[str]) -> Message:
        """Build the user message from `parts`, the sections of a repair prompt.

        The request for the next piece and the remaining writes are not in it, because they are
        added elsewhere in every turn.
        """
        return Message("user", paragraphs([*parts, self.refusal_question]))


def next_piece(reply: str) -> str:
    """Return a model's reply, cut after its first block of code.

    An answer in words without a block (`ANSWER: 5`) becomes code that prints it.
    """
    if "```" not in reply and (spoken := _SPOKEN.search(reply)):
        return f"```python\nprint('ANSWER:', {spoken['answer'].rstrip(' *_`')!r})\n```"
    return first_block(reply)


def _format_confirmation_request(result: Attempt, *, takes_same: bool) -> str:
    """Return the message that asks the model to confirm or correct the answer of its program.

    The message lists what speaks against the answer: the doubts that `result`, the attempt with the
    answer, has. Without doubts, it lists one reason: data were changed by parts of the program that
    were removed later. `takes_same` is True if the model may confirm the answer with the word SAME.
    If it is False, the model confirms the answer by printing it again.
    """
    doubts = result.doubts or ("changes were made that are no part of the program, see below.",)
    answer = clip_text(result.answer or "", _LONGEST_ANSWER)
    told = "\n".join(f"- {doubt}" for doubt in doubts)
    confirm = "reply with the one word SAME" if takes_same else "give it again"
    return fill("step_doubt", answer=answer, doubts=told, confirm=confirm)


def _format_next_request(output: str) -> str:
    """Return the message that shows what the program printed, and asks for its next part."""
    return paragraphs([fill("step_output", output=output), fill("step_next")])


def _format_piece(piece: str) -> str:
    """Return a piece as a block of Python code, as the model writes it in a reply."""
    source = piece.strip("\n")
    return f"```python\n{source}\n```" if source.strip() else "(no program)"
