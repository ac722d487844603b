"""Step by step: a program that grows piece by piece, each piece written with the results so far in view.

There is no live session. Each piece is appended to the program and the whole is executed again; the journal answers
the calls of earlier pieces. A piece that fails is dropped: its calls stay in the journal, and what it wrote in view.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from atc.events import AttemptEnded
from atc.learned import observed
from atc.meter import BudgetSpent, Meter
from atc.prompts import fill
from atc.repair.writes import writes_told
from atc.strategies.base import Parts
from atc.strategies.chain import UNCHANGED, retrieve
from atc.strategies.programs.attempt import attempt, numbered, rests_on_responses, seen_output
from atc.strategies.programs.conclusion import conclusion, not_undone
from atc.strategies.programs.pieces import grown, may_answer, new_lines, next_piece
from atc.strategies.programs.prints import finished, quiet
from atc.strategies.programs.telling import Conversation, doubted, failed, looked
from atc.synthesize import new_program
from atc.types import Attempt, Fault, Program, Solution
from protocols.ask import Completion, Message
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall

MOST_PIECES = 12
"""Pieces that a program may have; those that failed and were told of, up to `max_repairs`, come on top."""
_LINE = Program("pass\n")


def solve(
    task: str,
    parts: Parts,
    *,
    tools: Toolbox | None = None,
    meter: Meter | None = None,
    before: Sequence[Attempt] = (),
) -> Solution:
    """Let a program grow until a piece prints the answer or the budget is spent.

    The answer is what `print("ANSWER:", …)` prints. `tools` (else they are retrieved), `meter` and the attempts
    `before` are those of a run that another strategy began: what its calls gave is shown first.
    """
    meter = meter or parts.meter()
    if tools is None:
        tools = retrieve(task, parts, meter)
    return _Growing(task, parts, tools, meter, list(before)).solve()


@dataclass(frozen=True, slots=True)
class _Step:
    """A piece as it ran, what became of it, whether it gave an answer, and else what it showed."""

    piece: str
    result: Attempt
    answers: bool = False
    shown: str = ""


@dataclass
class _Growing:
    """One run. `kept` is the program so far, without prints; `issued` are its calls."""

    task: str
    parts: Parts
    tools: Toolbox
    meter: Meter
    attempts: list[Attempt]
    kept: Program = field(default_factory=lambda: Program(""))
    issued: tuple[ToolCall, ...] = ()
    answered: list[Attempt] = field(default_factory=list)
    failing: int = 0
    """Pieces that failed in a row."""
    failed: frozenset[str] = frozenset()
    """Those of them that would fail as they did."""
    seen: list[str] = field(default_factory=list)
    """Results that the model was shown: a value that stands there is not made up."""

    def __post_init__(self) -> None:
        self.round = max((a.round + 1 for a in self.attempts), default=0)
        self.writing = frozenset(alias for alias, tool in self.parts.toolbox.items() if tool.protocol.writes)
        calls = [call for attempt in self.attempts for call in _calls(attempt)]
        config, budget = self.parts.config, self.parts.prompt_tokens
        stands = self._stands()
        self.said = Conversation.begun(self.task, self.tools, budget=budget, calls=calls, more=stands, docs=config.docs)
        self.seen += [self.said.opening[-1].content] if calls else []

    def solve(self) -> Solution:
        """Piece after piece."""
        turns = MOST_PIECES + self.parts.config.max_repairs
        limit: str | None = None
        try:
            for turn in range(1, turns + 1):
                step = self._step()
                if step is None or self._ends(step):
                    break
                self._tell(step, last=turn == turns - 1)
            else:
                limit = f"{MOST_PIECES} pieces"
        except BudgetSpent as spent:
            limit = spent.limit
        answer = self.answered[-1].answer if self.answered else None
        return conclusion(self.task, self.attempts, self.tools, self.parts, self.meter, answer=answer, limit=limit)

    def _step(self) -> _Step | None:
        """The next piece, as it ran; None where the last one, which failed, came back as it was."""
        config, blind = self.parts.config, not seen_output(self.attempts)
        piece = new_program(
            self.said.messages(),
            self._complete,
            known=self.failed,
            most=self.parts.samples,
            temperature=config.temperature,
        )
        if piece is None:
            return _Step("", self._not_run(Program(""), "The reply held no Python program."))
        if piece.source in self.failed:
            self.meter.note(UNCHANGED)
            return None
        step = self._attempted(piece, blind=blind)
        new = step.result.fault is not None and not rests_on_responses(
            step.result.findings, step.result.program, self.parts.toolbox
        )
        self.failed = self.failed | {piece.source} if new else frozenset()
        return step

    def _complete(self, messages: Sequence[Message], *, purpose: str, temperature: float, seed: int) -> Completion:
        """The model's reply, up to where it would go on with outputs of its own."""
        completion = self.meter.complete(messages, purpose=purpose, temperature=temperature, seed=seed)
        return replace(completion, text=next_piece(completion.text))

    def _attempted(self, piece: Program, *, blind: bool) -> _Step:
        """The program with the piece, executed: as the finished program first where the piece may give the answer."""
        new = new_lines(self.kept, piece, self.writing)
        if new is None:
            return _Step(piece.source, self._not_run(piece, "These lines stand in the program already."))
        whole = grown(self.kept, new)
        bare = finished(whole) if may_answer(self.kept, new) else None
        self.parts.journal.settled = self.issued
        if bare is not None:
            result = self._attempt(bare, blind=blind)
            silent = result.fault is not None and result.fault.kind == "no_answer"
            if not silent or result.trace is None or result.trace.failure is not None:
                return _Step(new.source, result, answers=result.answer is not None)
            self.parts.journal.settled = _calls(result)
        result = self._attempt(whole, blind=blind, look=True)
        kept, source = self.kept.source.rstrip(), result.program.source
        as_run = source.removeprefix(kept) if kept and source.startswith(kept) else new.source
        return _Step(as_run, result, shown=self._shown(result))

    def _attempt(self, program: Program, *, blind: bool, look: bool = False) -> Attempt:
        result = attempt(
            self.task,
            program,
            self.tools,
            self.parts,
            self.meter,
            number=len(self.attempts),
            round_=self.round,
            blind=blind,
            seen="\n".join(self.seen),
            look=look,
            earlier=self.attempts,
        )
        self.attempts.append(result)
        if result.trace is not None:
            self.parts = replace(self.parts, toolbox=observed(self.parts.toolbox, result.trace.calls))
            self.tools = self.parts.toolbox.only(list(self.tools))
        return result

    def _not_run(self, program: Program, said: str) -> Attempt:
        result = Attempt(program, (), None, Fault(kind="syntax", message=said), round=self.round)
        self.parts.observer(AttemptEnded(len(self.attempts), result))
        self.attempts.append(result)
        return result

    def _shown(self, result: Attempt) -> str:
        trace = result.trace
        if trace is None or (result.fault is not None and not trace.stdout.strip()):
            return ""
        new = trace.calls[len(self.issued) :]
        return looked(trace, new, self.parts.toolbox, most=self.said.longest)

    def _ends(self, step: _Step) -> bool:
        """Whether the run is over. A piece that ran is kept from here on, without its prints."""
        result, config = step.result, self.parts.config
        if result.fault is not None:
            self.failing += 1
            return result.paused or self.failing > config.max_repairs or config.repair == "none"
        self.failing = 0
        self.kept, self.issued = quiet(result.program), _calls(result)
        if not step.answers:
            return False
        self.answered.append(result)
        return len(self.answered) > 1 or not (result.doubts or self._standing())

    def _tell(self, step: _Step, *, last: bool) -> None:
        """Add to the conversation what became of the piece."""
        result = step.result
        told = [fill("step_output", output=step.shown)] if step.shown else []
        then = fill("step_last" if last else "step_next")
        if result.fault is not None and (result.findings or result.trace is not None):
            told.append(self._failed(step))
            line = len(grown(self.kept, _LINE).source.splitlines())
            then = then if last else fill("step_again", line=str(line))
        elif result.fault is not None:
            told.append(result.fault.message)
        elif step.answers:
            told.append(doubted(result))
        self.round += bool(result.fault or step.answers)
        self.said.add(step.piece, told, beside=self._stands(), then=then)
        self.seen += told

    def _failed(self, step: _Step) -> str:
        messages = self.said.messages()
        docs = self.parts.config.docs
        return failed(
            step.piece, step.result, self.parts.toolbox, complete=self.meter.complete, messages=messages, docs=docs
        )

    def _stands(self) -> str:
        return writes_told(self._standing(), self.parts.toolbox)

    def _standing(self) -> tuple[ToolCall, ...]:
        """Writes that were made and that the program does not make: those of dropped pieces, unless undone since.

        Read from the attempts alone: when a run goes on, its journal knows what comes later, too.
        """
        made = [call for attempt in self.attempts for call in _calls(attempt) if call.outcome == "done"]
        left: dict[tuple[str, int], ToolCall] = {}
        for calls in map(_calls, self.attempts):
            left |= {key: call for key, call in numbered(calls) if key not in left and self._wrote(call)}
        issued = {key for key, _ in numbered(self.issued)}
        standing = [call for key, call in left.items() if key not in issued]
        return not_undone(standing, made, self.parts.toolbox)

    def _wrote(self, call: ToolCall) -> bool:
        return call.tool in self.writing and call.outcome in ("done", "unknown")


def _calls(attempt: Attempt) -> tuple[ToolCall, ...]:
    """What an attempt called."""
    return attempt.trace.calls if attempt.trace is not None else ()
