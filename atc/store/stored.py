"""Dataclasses that a store of runs saves and returns, their JSON conversion, and store errors."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, TypeAdapter, ValidationError

from atc.core.task import TaskContext
from atc.core.types import Attempt, Usage
from atc.store.lease import Lease
from protocols.errors import AtcError
from protocols.files import FileInfo, described_at
from protocols.model import Completion, Message
from protocols.protocol import ToolProtocol
from protocols.schema import Json
from sandbox.journal_entries import RecordedCall
from sandbox.trace import Pins

T = TypeVar("T")


class StoreUnavailable(AtcError):
    """The store cannot be read or written. The message says why and what to do."""


class RunRefused(AtcError):
    """The run cannot be continued: it is over, another process took it, or its tools changed."""


class RunTaken(RunRefused):
    """A process that is still alive works on the run."""


class UnknownRun(RunRefused):
    """No run, or more than one, matches the given name. The message suggests similar run ids."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """A run without its attempts, tool calls and model replies. Times are Unix seconds.

    `call_count` is the number of tool calls that were really sent, in all attempts together. Calls
    whose result was reused from an earlier attempt do not count.
    """

    run_id: str = ""
    task: str
    created: float
    ended: float | None = None
    status: str = "running"
    """`running`, `solved`, `failed`, `paused` (a person must decide or put something right),
    `error` (an error of atc or of the model ended the run) or `interrupted` (the run was stopped,
    or its process ended).
    """
    model: str = ""
    strategy: str = ""
    sandbox: str = ""
    answer: str | None = None
    error: str | None = None
    attempt_count: int = 0
    call_count: int = 0
    config: Mapping[str, Json] = field(default_factory=dict)
    tools: tuple[str, ...] = ()
    usage: Annotated[Usage, BeforeValidator(lambda used: used or {})] = field(default_factory=Usage)
    pins: Pins | None = None
    """Random seed, start time and time zone that are the same in every execution of the run."""
    context: TaskContext = field(default_factory=TaskContext)
    """The rules and the date that the caller gave beside the task."""
    notes: tuple[str, ...] = ()
    """Ways in which the run deviated from its settings, see `Solution.notes`."""
    identities: Mapping[str, str] = field(default_factory=dict)
    """The identity of each tool when the run began, keyed by the tool's alias."""
    consent: str = "ask"
    """`none` if the run had no person who could be asked, at least once it was begun or resumed.

    It is only shown: a run that is resumed asks, unless it is said again.
    """
    writes_begun: float | None = None
    """When the process that works on the run reserved the task for its writes, as Unix time.

    None if it was not about to send a write yet. See `Reservations`.
    """
    may_repeat: tuple[str, ...] = ()
    """Ids of other runs of the task whose writes this run may send again, as a person said."""
    gateway: bool = False
    """True if the programs were written by another agent, which is a client of a gateway."""
    lease: Lease | None = None
    """Lease of the process that owns the run. Always None in PostgreSQL, which has a table of
    leases.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One prompt to the model and the model's reply, or None if it did not reply.

    `purpose` says why the model was asked: to write, sample or repair a program.
    """

    purpose: str
    messages: tuple[Message, ...]
    reply: Completion | None = None
    asked: float | None = None
    """Unix time at which the prompt was sent; None if an earlier version stored it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """A run with everything that was recorded about it.

    `calls` are its tool calls, including those of attempts that have not ended.
    """

    summary: RunSummary
    attempts: tuple[Attempt, ...]
    calls: tuple[RecordedCall, ...]
    exchanges: tuple[Exchange, ...]
    protocols: Mapping[str, ToolProtocol] = field(default_factory=dict)
    """The definitions of the tools that the run's programs named, keyed by alias."""

    @property
    def purpose(self) -> str:
        """The run's task, or the source of its last program if it was started without a task."""
        return self.summary.task or (self.attempts[-1].program.source if self.attempts else "")

    @property
    def answered(self) -> Attempt | None:
        """The last attempt that gave the run's answer; None if the run has no answer."""
        given = [one for one in reversed(self.attempts) if one.answer is not None]
        if self.summary.answer is None or not given:
            return None
        return next((one for one in given if one.answer == self.summary.answer), given[0])

    @property
    def files(self) -> tuple[FileInfo, ...]:
        """The files of the run's answer; if it has none, all that tools returned in the run."""
        answered = self.answered
        if answered is not None and answered.trace is not None and answered.trace.files:
            return answered.trace.files
        calls = [one.call for one in self.calls]
        found = [described_at(call.result, path) for call in calls for path in call.files]
        return tuple(dict.fromkeys(info for info in found if info is not None))

    def find_file(self, digest: str) -> FileInfo | None:
        """Return the file with this SHA-256 that a tool returned in the run, or None."""
        calls = [one.call for one in self.calls]
        found = (described_at(call.result, path) for call in calls for path in call.files)
        return next((info for info in found if info and info.sha256 == digest), None)

    @property
    def doubts(self) -> tuple[str, ...]:
        """What speaks against the run's answer, also if the model confirmed the answer."""
        return self.answered.doubts if self.answered is not None else ()

    @property
    def reason(self) -> str:
        """Why the run failed or was paused or broke off; empty if it did not."""
        run = self.summary
        if run.status in ("interrupted", "running"):  # its status says it
            return ""
        if run.error is not None or run.status not in ("failed", "paused"):
            return run.error or ""
        last = self.attempts[-1] if self.attempts else None
        if last is None:
            return "No program was written."
        if last.paused and last.trace is not None and last.trace.failure is not None:
            return last.trace.failure.message
        if run.status == "paused":
            return "Writes are left that the final program does not make."
        if last.fault is not None:
            return last.fault.message
        return last.findings[0].message if last.findings else "No program gave an answer."

    @property
    def unfinished_calls(self) -> list[RecordedCall]:
        """Calls of executions for which no finished attempt is stored.

        Such an execution is still running, or its process ended while it ran.
        """
        ended = {attempt.execution for attempt in self.attempts}
        return [call for call in self.calls if call.execution not in ended]


def used_so_far(exchanges: Sequence[Exchange]) -> Usage:
    """Return the sum of the model's tokens and seconds in all replies that a run has received."""
    return Usage.of(*(exchange.reply for exchange in exchanges if exchange.reply is not None))


def escape_surrogates(text: str) -> str:
    """Return `text` with lone surrogates escaped, since they cannot be stored or displayed.

    Python creates lone surrogates from bytes on the command line that are not UTF-8.
    """
    return text.encode("utf-8", "backslashreplace").decode()


@cache
def type_adapter(kind: type) -> TypeAdapter[Any]:
    """Return pydantic's adapter for values of the type `kind`.

    Adapters are cached, since creating one is slow.
    """
    return TypeAdapter(kind)


def as_json(kind: type, value: Any) -> str:
    """Return `value`, of the type `kind`, as compact JSON.

    Parts that JSON cannot represent become their `repr`.
    """
    return json.dumps(type_adapter(kind).dump_python(value), default=repr, separators=(",", ":"))


def from_json(kind: type[T], text: str) -> T:
    """Return the value of the type `kind` in a JSON text that `as_json` wrote.

    Raises:
        StoreUnavailable: the text does not match the type. Another version of atc wrote it.
    """
    try:
        adapter = type_adapter(kind)  # type: ignore[arg-type]  # a type is hashable
        value: T = adapter.validate_python(json.loads(text))
    except ValidationError as error:
        raise StoreUnavailable(
            f"the store of runs holds what this atc cannot read: {first_problem(error)}."
        ) from error
    return value


def first_problem(error: ValidationError) -> str:
    """Describe the first validation error, for example `calls.0.line: Field required`.

    The location is left out if the whole value is invalid.
    """
    problem = error.errors(include_url=False)[0]
    return ": ".join(filter(None, [".".join(map(str, problem["loc"])), problem["msg"]]))
