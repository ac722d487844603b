"""What a store of runs keeps and gives back, all frozen, how it becomes text, and why a store may refuse."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, TypeAdapter, ValidationError

from atc.core.types import Attempt, Usage
from atc.store.lease import Lease
from protocols.errors import AtcError
from protocols.model import Completion, Message
from protocols.protocol import ToolProtocol
from protocols.schema import Json
from sandbox.journal import RecordedCall
from sandbox.trace import Pins

T = TypeVar("T")


class StoreUnavailable(AtcError):
    """The store cannot be read or written. Says why and what to do."""


class RunRefused(AtcError):
    """Nothing can be done with a run that was named: it is over, taken, or its tools are others now."""

    exit_code = 2


class RunTaken(RunRefused):
    """A living process works on the run."""


class UnknownRun(RunRefused):
    """No run, or more than one, of this name. Says which ids come near."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """What is kept of a run besides its parts. Times are Unix seconds.

    `call_count` is the number of calls that were really made, over all attempts.
    """

    run_id: str = ""
    task: str
    created: float
    ended: float | None = None
    status: str = "running"  # solved, failed, paused, error (our side failed) or interrupted (its process is gone)
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
    pins: Pins | None = None  # what every execution pins
    notes: tuple[
        str, ...
    ] = ()  # what was done otherwise than the settings ask for, see `Solution.notes`
    identities: Mapping[str, str] = field(
        default_factory=dict
    )  # by alias, of all its tools at its start
    gateway: bool = False  # its programs are those of another agent, a client of a gateway
    lease: Lease | None = (
        None  # of the process that began it or went on with it, where the store is a file
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One prompt and its reply; `reply` is None when none came."""

    purpose: str
    messages: tuple[Message, ...]
    reply: Completion | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """A run with everything that is known of it. `calls` has those of unfinished attempts too."""

    summary: RunSummary
    attempts: tuple[Attempt, ...]
    calls: tuple[RecordedCall, ...]
    exchanges: tuple[Exchange, ...]
    protocols: Mapping[str, ToolProtocol] = field(
        default_factory=dict
    )  # by alias, those that its programs named

    @property
    def purpose(self) -> str:
        """The task, or the program where its caller wrote it and there is no task."""
        return self.summary.task or (self.attempts[-1].program.source if self.attempts else "")

    @property
    def unfinished_calls(self) -> list[RecordedCall]:
        """Calls of executions that no attempt has: they run, or their process ended while they ran."""
        ended = {attempt.execution for attempt in self.attempts}
        return [call for call in self.calls if call.execution not in ended]


def used_so_far(exchanges: Sequence[Exchange]) -> Usage:
    """What a run that did not end has used so far."""
    return Usage.of(*(exchange.reply for exchange in exchanges if exchange.reply is not None))


def escape_surrogates(text: str) -> str:
    """`text` with a lone surrogate (bytes of argv that are not UTF-8) as its escape, so that it can be shown."""
    return text.encode("utf-8", "backslashreplace").decode()


@cache
def type_adapter(kind: type) -> TypeAdapter[Any]:
    """Reads and writes values of `kind`. Made when it is first needed: building one takes long."""
    return TypeAdapter(kind)


def as_json(kind: type, value: Any) -> str:
    """`value` as compact JSON; what JSON cannot hold becomes its `repr`."""
    return json.dumps(type_adapter(kind).dump_python(value), default=repr, separators=(",", ":"))


def from_json(kind: type[T], text: str) -> T:
    """A value of `kind` that `as_json` wrote. Raises `StoreUnavailable`: another version of atc wrote it."""
    try:
        value: T = type_adapter(kind).validate_python(json.loads(text))  # type: ignore[arg-type]  # a type is hashable
    except ValidationError as error:
        raise StoreUnavailable(
            f"the store of runs holds what this atc cannot read: {first_problem(error)}."
        ) from error
    return value


def first_problem(error: ValidationError) -> str:
    """`calls.0.line: Field required`, or what is wrong alone where that is the whole."""
    problem = error.errors(include_url=False)[0]
    return ": ".join(filter(None, [".".join(map(str, problem["loc"])), problem["msg"]]))
