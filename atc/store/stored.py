"""The frozen data types of a store of runs, their conversion to JSON, and the store's errors."""

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
    """The store cannot be read or written. The message says why and what to do."""


class RunRefused(AtcError):
    """The run cannot be used: it is over, taken by another process, or its tools have changed."""


class RunTaken(RunRefused):
    """A living process works on the run."""


class UnknownRun(RunRefused):
    """No run, or more than one, has this name. The message suggests similar ids."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """The fields of a run apart from its attempts, calls and exchanges. Times are Unix seconds.

    `call_count` is the number of calls that were actually made, over all attempts.
    """

    run_id: str = ""
    task: str
    created: float
    ended: float | None = None
    status: str = "running"
    """`solved`, `failed`, `paused`, `error` (our side failed) or `interrupted` (its process is
    gone).
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
    """What is pinned in every execution."""
    notes: tuple[str, ...] = ()
    """Deviations from the settings, see `Solution.notes`."""
    identities: Mapping[str, str] = field(default_factory=dict)
    """Identities of all its tools at its start, by alias."""
    gateway: bool = False
    """True if its programs come from another agent, a client of a gateway."""
    lease: Lease | None = None
    """Lease of the process that owns it, if the store is a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One prompt and its reply. `reply` is None if there was none."""

    purpose: str
    messages: tuple[Message, ...]
    reply: Completion | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """A run with everything that was recorded. `calls` includes those of unfinished attempts."""

    summary: RunSummary
    attempts: tuple[Attempt, ...]
    calls: tuple[RecordedCall, ...]
    exchanges: tuple[Exchange, ...]
    protocols: Mapping[str, ToolProtocol] = field(default_factory=dict)
    """Protocols of the tools that its programs named, by alias."""

    @property
    def purpose(self) -> str:
        """The task, or the program if the caller supplied one and there is no task."""
        return self.summary.task or (self.attempts[-1].program.source if self.attempts else "")

    @property
    def unfinished_calls(self) -> list[RecordedCall]:
        """Calls of executions without an attempt: they are running, or their process ended while
        they ran.
        """
        ended = {attempt.execution for attempt in self.attempts}
        return [call for call in self.calls if call.execution not in ended]


def used_so_far(exchanges: Sequence[Exchange]) -> Usage:
    """Return the usage so far of a run that has not ended."""
    return Usage.of(*(exchange.reply for exchange in exchanges if exchange.reply is not None))


def escape_surrogates(text: str) -> str:
    """Return `text` with lone surrogates (from bytes of argv that are not UTF-8) escaped, so that
    it can be displayed.
    """
    return text.encode("utf-8", "backslashreplace").decode()


@cache
def type_adapter(kind: type) -> TypeAdapter[Any]:
    """Return the adapter that reads and writes values of `kind`.

    Created when first needed, since that is slow.
    """
    return TypeAdapter(kind)


def as_json(kind: type, value: Any) -> str:
    """Return `value` as compact JSON. Values that JSON cannot represent become their `repr`."""
    return json.dumps(type_adapter(kind).dump_python(value), default=repr, separators=(",", ":"))


def from_json(kind: type[T], text: str) -> T:
    """Read a value of `kind` written by `as_json`.

    Raises:
        StoreUnavailable: another version of atc wrote it.
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
    """Describe the first validation error: `calls.0.line: Field required`, or only the problem if
    there is no location.
    """
    problem = error.errors(include_url=False)[0]
    return ": ".join(filter(None, [".".join(map(str, problem["loc"])), problem["msg"]]))
