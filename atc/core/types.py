"""The values that the pipeline works with: Program, Finding, Fault, Attempt, Solution. All are
frozen.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Literal, Self

from protocols.errors import AtcError
from protocols.model import Completion
from protocols.python_source import parse_python
from protocols.schema import Json
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall, Trace

FaultKind = Literal[
    "syntax", "policy", "unknown_tool", "bad_arguments", "tool_failed", "misread_result",
    "empty_result", "drift", "unknown_outcome", "limit", "no_answer", "error",
]  # fmt: skip
"""Kinds of faults. `error` is a mistake of the program that no call had a part in, such as a
division by zero.
"""

FactKind = Literal[
    "call", "argument", "origin", "field", "keys", "nearest", "elsewhere", "schema", "test",
    "drift", "line", "limit", "finding", "advice",
]  # fmt: skip
"""What a fact is about."""

Status = Literal["solved", "failed", "paused"]


@dataclass(frozen=True)
class Program:
    """Python source that calls tools by their aliases. It is parsed once, when `tree` is first
    used.
    """

    source: str

    @cached_property
    def _parsed(self) -> ast.Module | Exception:
        """The syntax tree, or the error of Python's parser."""
        try:
            return parse_python(self.source)
        except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
            return error.with_traceback(None)

    @property
    def tree(self) -> ast.Module:
        """The syntax tree, empty if the source is not Python. Everybody shares it, so it must not
        be changed.
        """
        return ast.Module([], []) if isinstance(self._parsed, Exception) else self._parsed

    @property
    def parse_error(self) -> Exception | None:
        """The error with which Python's parser refuses the source; None if it is Python."""
        return self._parsed if isinstance(self._parsed, Exception) else None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Each word of the source that could be a name, once, in order. Those in strings and
        comments are included.
        """
        return tuple(dict.fromkeys(re.findall(r"[^\W\d]\w*", self.source)))

    def forget_tree(self) -> None:
        """Free the memory of the syntax tree. It is parsed again when it is next used."""
        self.__dict__.pop("_parsed", None)

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        """Leave the syntax tree out when the program is sent to another process."""
        return type(self), (self.source,)

    def line(self, number: int | None) -> str:
        """Return a 1-based line without surrounding blanks; empty if there is no such line."""
        return (self.raw_line(number or 0) or "").strip()

    def raw_line(self, number: int) -> str | None:
        """Return a 1-based line as it is; None if there is no such line."""
        lines = self.source.splitlines()
        return lines[number - 1] if 0 < number <= len(lines) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """An error that the static check has found before any call is made.

    `line` is 1-based, `column` and `end_column` are 0-based in that line. `tool` is the alias of
    the call that it concerns, if any. `suggestion` is a replacement, or the names that exist.
    """

    code: str
    message: str
    line: int
    column: int = 0
    end_column: int = 0
    tool: str | None = None
    argument: str | None = None
    """The alias of the argument of `tool` that it is about, or the name that the program used for
    it.
    """
    suggestion: str | None = None
    keys: tuple[str, ...] = ()
    """For a missing key: the keys that exist."""
    certain: bool = True
    """False if it depends on the data, such as a field that can be null. The program is run
    nevertheless.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One fact about a fault. `text` is a sentence for people and models; the other fields are for
    programs.

    `path` is a place in the response of call number `call`, or an argument of that call. `names`
    are the keys, arguments, tools or values that the sentence suggests.
    """

    kind: FactKind
    text: str
    call: int | None = None
    path: str | None = None
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Why an attempt failed, attributed to one call by facts.

    `call` is the index of the blamed call in the trace; it is None if no call was made yet or none
    is to blame. `tool` is its alias, `path` the place in its response or the name of its argument.
    `evidence` are the facts that a repair prompt quotes.
    """

    kind: FaultKind
    message: str
    call: int | None = None
    tool: str | None = None
    path: str | None = None
    line: int | None = None
    evidence: tuple[Fact, ...] = ()


def parse_answer(text: str) -> Json:
    """Return what a program printed: parsed if it is JSON or the `repr` of a value, else as text
    (`1,234`, `+49…`).
    """
    for read in (
        (json.loads, ast.literal_eval) if text[:1] in "[({'\"NTF" else (json.loads,)
    ):  # NTF: None, True …
        try:
            value: Json = read(text)
            json.dumps(value, allow_nan=False)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            continue
        return value
    return text


@dataclass(frozen=True, slots=True)
class Attempt:
    """One program and its outcome. `trace` is None if the check found something; `fault` is None if
    it gave an answer.

    `mended` are findings of the program as the model wrote it that were corrected before it ran.
    `doubts` are sentences that speak against an answer although nothing failed. `round` is 0 for
    the first programs and n for those of the n-th repair; several samples may have the same round.
    """

    program: Program
    findings: tuple[Finding, ...] = ()
    trace: Trace | None = None
    fault: Fault | None = None
    doubts: tuple[str, ...] = ()
    mended: tuple[Finding, ...] = ()
    round: int = 0
    execution: int | None = None
    """The journal's number of the execution that `trace` describes; None if nothing ran."""

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls that the program made."""
        return self.trace.calls if self.trace is not None else ()

    @property
    def paused(self) -> bool:
        """True if it was stopped before a write that nobody had allowed."""
        return (
            self.trace is not None
            and self.trace.failure is not None
            and self.trace.failure.kind == "paused"
        )

    @property
    def answer(self) -> str | None:
        """What the program printed, or else the value of its last expression; None if it gave no
        answer.
        """
        if self.fault is not None or self.trace is None:
            return None
        if printed := self.trace.stdout.strip():
            return printed
        value = self.trace.value
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Usage of the model by a run. `model_seconds` is the time spent waiting for it.

    `cached_tokens` are those of the `input_tokens` that the model had in its cache.
    """

    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    model_seconds: float = 0.0
    cached_tokens: int = 0

    @property
    def tokens(self) -> int:
        """Tokens that count for a budget: those written, and those read that were not cached."""
        return self.input_tokens - self.cached_tokens + self.output_tokens

    @classmethod
    def of(cls, *replies: Completion) -> Usage:
        """Return the sum of what these replies used."""
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
class Solution:
    """The result of a task: every attempt, and the answer of the last one if it has one."""

    task: str
    attempts: tuple[Attempt, ...]
    status: Status
    answer: str | None = None
    tools: tuple[str, ...] = ()
    """Aliases of the tools that the programs were written against."""
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    limit: str | None = None
    """The budget that ended the run (`max_seconds = 60`), if one did."""
    run_id: str | None = None
    """The id of the stored run; None if there is no store."""
    orphans: tuple[ToolCall, ...] = ()
    """Writes of earlier attempts that the final program does not make, and that nothing has undone.
    """
    unknown_writes: tuple[ToolCall, ...] = ()
    """Writes of which nobody knows whether they took effect."""
    notes: tuple[str, ...] = ()
    """Sentences about what was done differently from the settings."""

    @property
    def call_count(self) -> int:
        """Number of calls that were really sent, over all attempts: without those answered from the
        journal or refused.
        """
        traces = [attempt.trace for attempt in self.attempts if attempt.trace is not None]
        return sum(
            not call.reused and call.outcome != "not_run"
            for trace in traces
            for call in trace.calls
        )

    @property
    def problem(self) -> str | None:
        """A sentence that says why there is no answer; None if the task was solved."""
        if self.status == "solved":
            return None
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
        """Return the solution itself if the task was solved.

        Raises:
            Unsolved: The task has failed, or is paused. The error carries the solution.
        """
        if self.status != "solved":
            raise Unsolved(self)
        return self

    @property
    def repairs(self) -> int:
        """How many times the model was told of a fault and wrote a new program."""
        return max((attempt.round for attempt in self.attempts), default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The beginning of a run: the tools found for the task, a first program, and its findings.

    `program` is None if the model wrote none.
    """

    tools: Toolbox
    program: Program | None = None
    findings: tuple[Finding, ...] = ()


class Unsolved(AtcError):
    """A task that has failed or is paused. Raised by `Solution.raise_if_unsolved`.

    `solution` has each attempt with its program, its calls and its fault.
    """

    def __init__(self, solution: Solution) -> None:
        super().__init__(solution)
        self.solution = solution

    def __str__(self) -> str:
        problem = f"{self.solution.problem}".removesuffix(".")
        if self.solution.status == "paused":
            return f"the task is paused: {problem}."
        return (
            f"the task was not solved: {problem}. The attribute solution.attempts has"
            " each program and its fault."
        )
