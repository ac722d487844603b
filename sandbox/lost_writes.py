"""Recovery of writes whose response was lost: verify the write by a read, repeat it, or stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from protocols.errors import ToolError
from protocols.schema import Json, JsonObject
from protocols.toolbox import Tool, Toolbox
from sandbox.trace import ToolCall
from sandbox.write_verification import Verification, verify_write

OnUnknown = Literal["stop", "skip"]
"""What to do with a write whose outcome stays unknown: pause the run (`stop`), or report an error
to the program (`skip`)."""

MOST_SENDS = 4
"""Most times that one call is sent."""
_BACKOFF_SECONDS = 0.25
_GATEWAYS = (408, 502, 503, 504)
"""Statuses of a gateway. The service behind it may still be working."""


class UnconfirmedWrite(Exception):
    """A write that may have taken effect. `error` is the last error of the call."""

    def __init__(self, error: ToolError, why: str) -> None:
        super().__init__(why)
        self.error = error
        self.why = why


class WriteResult(NamedTuple):
    """The response to a write. `note` explains how it was found if the response itself was lost."""

    response: Json
    note: str | None = None


@dataclass(frozen=True, kw_only=True)
class PendingWrite:
    """One write to be sent."""

    tool: Tool
    arguments: JsonObject  # by original name
    earlier: tuple[ToolCall, float] | None
    """An equal call of an earlier execution whose response was lost, and the Unix time of its
    intent.
    """
    make: Callable[[], Json]
    """Send the call, under the same idempotency key each time."""
    intend: Callable[[Json], None]
    """Record that the call is about to be sent, with what the verifying read shows before it."""
    results: Callable[[], Sequence[Json]]
    """Return the responses of the run's other calls.

    A record that one of them created is not this one's."""


@dataclass(kw_only=True)
class WriteRecovery:
    """Sends writes so that each takes effect at most once.

    One for each run, for any number of threads.
    """

    tools: Toolbox
    """Contains the reads that verify writes, including those that programs do not see."""
    on_unknown: OnUnknown = "stop"
    settle_seconds: float = 10.0
    """Time after the intent that a service has to finish a write whose answer was lost."""
    wait: Callable[[float], object] = time.sleep
    now: Callable[[], float] = time.time
    _turns: dict[str, threading.Lock] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def send(self, sending: PendingWrite) -> WriteResult:
        """Send a write, or find out that it took effect before.

        Raises:
            ToolError: it was refused, or never reached the tool.
            UnconfirmedWrite: it may have taken effect.
        """
        read = None if sending.tool.takes_idempotency_key else self.tools.verifier(sending.tool)
        if read is None:
            return self._send(sending, None)
        with self._lock:
            lock = self._turns.setdefault(read.alias, threading.Lock())
        with lock:  # the read could not tell two simultaneous writes apart
            return self._send(sending, read)

    def _send(self, sending: PendingWrite, read: Tool | None) -> WriteResult:
        problem: ToolError | None = None
        note: str | None = None
        if sending.earlier is None:
            baseline = _read_baseline(read, sending)
            intended = self.now()
        else:
            call, intended = sending.earlier
            baseline = call.baseline
            problem = ToolError(call.status, call.error or "its answer was lost", outcome="unknown")
        sending.intend(baseline)
        for number in range(MOST_SENDS):
            if problem is not None and sending.tool.takes_idempotency_key:
                if number:
                    self.wait(problem.retry_after or _BACKOFF_SECONDS * 2**number)
                note = "Its answer was lost; it was sent again under its idempotency key."
            elif problem is not None:
                shown = self._verify_until_settled(sending, read, problem, baseline, intended)
                if shown.state == "done":
                    return WriteResult(shown.response, f"Its answer was lost; {shown.why}.")
                _require_absent(shown, problem)
                self.wait(problem.retry_after or 0.0)
                note = f"Its answer was lost; {shown.why}, so it was sent again."
                sending.intend(baseline)  # again: this sending may take as long to show up
                intended = self.now()
            try:
                return WriteResult(sending.make(), note)
            except ToolError as error:
                _require_unknown_outcome(error, problem, sending)
                problem = error
        assert problem is not None
        raise UnconfirmedWrite(problem, f"none of its {MOST_SENDS} sendings was answered")

    def _verify_until_settled(
        self,
        sending: PendingWrite,
        read: Tool | None,
        problem: ToolError,
        baseline: Json,
        intended: float,
    ) -> Verification:
        """Call the verifying read until it shows the write or the service has had its time."""
        if read is None:
            return Verification("unclear", "nothing shows whether it took effect")
        pause = _BACKOFF_SECONDS
        while True:
            try:
                after = _call_verifier(read, sending)
                shown = verify_write(
                    sending.tool, read, sending.arguments, baseline, after, sending.results()
                )
            except ToolError as error:
                shown = Verification(
                    "unclear", f"{read.alias}, which would show it, failed ({error})"
                )
            # A service that has answered is not working on the write any more.
            answered = problem.status is not None and problem.status not in _GATEWAYS
            left = intended + self.settle_seconds - self.now()
            if shown.state == "done" or left <= 0 or (shown.state == "absent" and answered):
                return shown
            self.wait(min(pause, left))
            pause *= 2


def _call_verifier(read: Tool, sending: PendingWrite) -> Json:
    """Return the response of the verifying read.

    Raises:
        ToolError: the read failed.
    """
    needed = [name for name in read.protocol.parameters if name in read.protocol.required]
    return read.call({name: sending.arguments[name] for name in needed})


def _read_baseline(read: Tool | None, sending: PendingWrite) -> Json:
    """Return the response of the verifying read before a write, in a list, or None."""
    if read is not None:
        with suppress(ToolError):
            return [_call_verifier(read, sending)]
    return None


def _require_absent(shown: Verification, problem: ToolError) -> None:
    """Check that a write that had no answer may be sent again.

    Raises:
        UnconfirmedWrite: it may have taken effect.
        ToolError: the service refused it (409).
    """
    if shown.state == "unclear":
        raise UnconfirmedWrite(problem, shown.why)
    if problem.status == 409:
        raise _as_refused(problem)


def _require_unknown_outcome(
    error: ToolError, earlier: ToolError | None, sending: PendingWrite
) -> None:
    """Raise `error` if it shows that the write had no effect."""
    if error.outcome != "unknown":
        raise error
    if sending.tool.takes_idempotency_key and _is_second_conflict(earlier, error):
        # If the first sending had been answered, its key would give that answer again.
        raise _as_refused(error) from error


def _is_second_conflict(problem: ToolError | None, error: ToolError) -> bool:
    """Return True if two sendings in a row were answered 409."""
    return problem is not None and problem.status == 409 and error.status == 409


def _as_refused(error: ToolError) -> ToolError:
    return ToolError(error.status, error.body, outcome="refused", curl=error.curl)
