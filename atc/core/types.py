"""The frozen types that the pipeline works with: Finding, Fault, Attempt, Solution."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from typing import Literal, Self

from atc.core.program import Program
from atc.core.solution_block import ShownRun, solution_block
from protocols.errors import AtcError
from protocols.files import FileInfo
from protocols.model import Completion
from protocols.schema import JsonObject
from sandbox.trace import ToolCall, Trace

FaultKind = Literal[
    "syntax", "policy", "unknown_tool", "bad_arguments", "tool_failed", "misread_result",
    "empty_result", "drift", "unknown_outcome", "limit", "no_answer", "error",
]  # fmt: skip
"""Kinds of faults. `error` is a mistake that involves no call, such as a division by zero."""

FactKind = Literal[
    "call", "argument", "origin", "field", "keys", "nearest", "elsewhere", "schema", "test",
    "drift", "line", "limit", "finding", "advice",
]  # fmt: skip
"""Kinds of facts: what a fact is about."""

Cure = Literal["program", "retry", "permission"]
"""What may help after a fault: another program, the same program a moment later, or a permission.

Only a person can give a permission, but another program may do without it."""

Status = Literal["solved", "unsure", "failed", "paused"]
"""How a run ended.

`unsure`: there is an answer, but something speaks against it that the model was not asked about, or
that it has not answered.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """An error in a program that the static check has found before any call is made.

    `line` is 1-based; `column` and `end_column` are 0-based byte positions in that line. `tool` is
    the alias of the tool whose call is concerned, if any. `suggestion` is a replacement, or the
    names that exist.
    """

    code: str
    message: str
    line: int
    column: int = 0
    end_column: int = 0
    tool: str | None = None
    argument: str | None = None
    """The argument of `tool` that is wrong: its alias, or the name that the program used for it."""
    suggestion: str | None = None
    keys: tuple[str, ...] = ()
    """The keys that exist, if the finding is about a missing key."""
    certain: bool = True
    """False if the error depends on the data, such as a field that can be null.

    The program is executed nevertheless.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One fact that explains a fault, the reason why a program failed.

    `text` is a sentence for people and models; the other fields are for programs. `path` is a path
    in the response of the call with index `call`, or the name of an argument of that call. `names`
    are the keys, arguments, tools or values that the sentence suggests.
    """

    kind: FactKind
    text: str
    call: int | None = None
    path: str | None = None
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Why an attempt failed, with the call that is to blame and the facts that show it.

    `call` is the index of that call in the trace; None if no call was made or none is to blame.
    `tool` is the alias of the called tool, and `path` a path in its response or the name of its
    argument. `evidence` are the facts that a repair prompt quotes. `cure` is what may help.
    """

    kind: FaultKind
    message: str
    call: int | None = None
    tool: str | None = None
    path: str | None = None
    line: int | None = None
    evidence: tuple[Fact, ...] = ()
    cure: Cure = "program"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One program of a run and its outcome.

    `trace` is None if the program was not executed because of `findings`. `fault` is None if the
    program gave an answer. `mended` are the findings that were fixed automatically before the
    program ran. `doubts` are sentences that speak against an answer although nothing failed.
    `round` is 0 for the first programs and n for those of the n-th repair; several samples may have
    the same round.
    """

    program: Program
    findings: tuple[Finding, ...] = ()
    trace: Trace | None = None
    fault: Fault | None = None
    doubts: tuple[str, ...] = ()
    mended: tuple[Finding, ...] = ()
    round: int = 0
    is_look: bool = False
    """True if the first write was held back, so that only the reads before it were made."""
    execution: int | None = None
    """The journal's number of the execution that `trace` describes; None if nothing ran."""

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls that the program made."""
        return self.trace.calls if self.trace is not None else ()

    @property
    def paused(self) -> bool:
        """True if the attempt waits for a person, who must decide, or put something right."""
        return (
            self.trace is not None
            and self.trace.failure is not None
            and self.trace.failure.kind == "paused"
        )

    @property
    def only_looked(self) -> bool:
        """True if the program showed values with `look`, and neither failed nor gave an answer."""
        if self.fault is not None or self.trace is None or not self.trace.looked:
            return False
        return not self.trace.stdout.strip() and self.trace.value is None

    @property
    def answer(self) -> str | None:
        """The program's output, else the value of its last expression; None without an answer."""
        if self.fault is not None or self.trace is None or self.only_looked:
            return None
        if printed := self.trace.stdout.strip():
            return printed
        value = self.trace.value
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The use of the model in one run: requests, tokens and seconds.

    `model_seconds` is the time spent waiting for replies. `cached_tokens` is the part of
    `input_tokens` that the model had in its cache.
    """

    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    model_seconds: float = 0.0
    cached_tokens: int = 0

    @property
    def tokens(self) -> int:
        """Tokens that count towards a budget.

        These are the tokens of replies, and those of prompts that the model did not have in its
        cache.
        """
        return self.input_tokens - self.cached_tokens + self.output_tokens

    @classmethod
    def of(cls, *replies: Completion) -> Usage:
        """Return the total usage of these replies of the model."""
        return cls(
            model_calls=len(replies),
            input_tokens=sum(reply.input_tokens for reply in replies),
            output_tokens=sum(reply.output_tokens for reply in replies),
            model_seconds=sum(reply.seconds for reply in replies),
            cached_tokens=sum(reply.cached_tokens for reply in replies),
        )

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            **{
                one.name: getattr(self, one.name) + getattr(other, one.name)
                for one in fields(Usage)
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedQuestion:
    """A call that was sent without asking a person, because of the setting `consent="none"`.

    `why` says what a person would have been asked about. `arguments` are keyed by original name.
    """

    tool: str
    arguments: JsonObject
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """The result of running a task: its answer, if there is one, and every attempt."""

    task: str
    attempts: tuple[Attempt, ...]
    status: Status
    answer: str | None = None
    doubts: tuple[str, ...] = ()
    """What speaks against the answer of an `unsure` run, one sentence each."""
    tools: tuple[str, ...] = ()
    """Aliases of the tools that were described to the model."""
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    limit: str | None = None
    """The budget that ended the run, such as `max_seconds = 60`; None if none did."""
    run_id: str | None = None
    """The id of the stored run; None if runs are not stored."""
    orphans: tuple[ToolCall, ...] = ()
    """Writes of earlier attempts that the final program does not make and that were not undone."""
    unknown_writes: tuple[ToolCall, ...] = ()
    """Writes of which it is unknown whether they took effect."""
    notes: tuple[str, ...] = ()
    """Sentences about what was not done as the settings ask."""
    skipped_questions: tuple[SkippedQuestion, ...] = ()
    """Calls that a person would have been asked about; only with `consent="none"`."""
    shown: ShownRun = field(default=ShownRun(), repr=False, compare=False)
    """What a notebook shows of the run, without secrets."""

    def _repr_html_(self) -> str:
        """Return the solution as one block of HTML, which a notebook shows."""
        return solution_block(self.status, self.answer, self.shown)

    @property
    def files(self) -> tuple[FileInfo, ...]:
        """The files that the last program printed or returned; none without an answer."""
        trace = self.attempts[-1].trace if self.attempts else None
        return () if self.answer is None or trace is None else trace.files

    @property
    def call_count(self) -> int:
        """Number of tool calls that were sent, over all attempts.

        Calls that were refused, or answered from the journal (the run's record of earlier calls),
        are not counted.
        """
        traces = [attempt.trace for attempt in self.attempts if attempt.trace is not None]
        return sum(
            not call.reused and call.outcome != "not_run"
            for trace in traces
            for call in trace.calls
        )

    @property
    def problem(self) -> str | None:
        """Why there is no answer, or why the answer is doubtful; None if the task was solved."""
        if self.status == "solved":
            return None
        if self.status == "unsure":
            return f"The answer is doubtful: {' '.join(self.doubts)}"
        last = self.attempts[-1] if self.attempts else None
        if self.status == "paused":
            failure = (
                last.trace.failure
                if last is not None and last.paused and last.trace is not None
                else None
            )
            left = (
                "Writes are left that the final program does not make. It would answer:"
                f" {self.answer}"
            )
            return left if failure is None else failure.message
        if self.limit and " = " not in self.limit:
            # A limit of the strategy, which no setting raises.
            return (
                f"There was no answer within {self.limit}, the most of this strategy: ask for less,"
                " or take another."
            )
        if self.limit:
            return f"The run's budget is spent: {self.limit}. Raise it, or ask for less."
        return (
            last.fault.message
            if last is not None and last.fault is not None
            else "No program gave an answer."
        )

    def raise_if_unsolved(self) -> Self:
        """Return the solution itself if the task was solved, and raise an exception otherwise.

        Raises:
            Unsolved: The task has failed or is paused, or its answer is doubtful. The error carries
                the solution.
        """
        if self.status != "solved":
            raise Unsolved(self)
        return self

    @property
    def repairs(self) -> int:
        """Number of rounds in which the model got a fault or doubts and wrote a new program."""
        return max((attempt.round for attempt in self.attempts), default=0)


class Unsolved(AtcError):
    """Raised by `Solution.raise_if_unsolved` if a task is not solved.

    `solution` has each attempt with its program, its calls and its fault.
    """

    def __init__(self, solution: Solution) -> None:
        super().__init__(solution)
        self.solution = solution

    def __str__(self) -> str:
        problem = f"{self.solution.problem}".removesuffix(".")
        if self.solution.status == "paused":
            return f"the task is paused: {problem}."
        if self.solution.status == "unsure":
            return f"{problem}. It is in solution.answer."
        return (
            f"the task was not solved: {problem}. The attribute solution.attempts has"
            " each program and its fault."
        )
