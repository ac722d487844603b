"""Handles calls that change data (writes) if no response to them arrived.

Another tool shows whether the write took effect, or the write is sent again if that is safe.
Otherwise it is reported as unconfirmed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from protocols.errors import ToolError
from protocols.response import ToolResponse
from protocols.schema import Json, JsonObject
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall
from sandbox.write_verification import Verification, verify_write

OnUnknown = Literal["stop", "skip"]
"""What happens if it remains unknown whether a write took effect.

- `stop`: the run pauses.
- `skip`: the program gets an error."""

CONFIRMED = "Its answer was lost, and a person said that it took effect, so it gave no result."
"""The note of a write that counts as done because a person has found out that it took effect."""
MOST_SENDS = 4
"""Maximum number of times that one call is sent."""
_BACKOFF_SECONDS = 0.25
_GATEWAYS = (408, 502, 503, 504)
"""HTTP statuses after which the service may still be working on the call."""


class UnconfirmedWrite(Exception):
    """Raised if it is unknown whether a write took effect.

    `error` is the last error of the call, and `why` says why nothing more can be found out.
    """

    def __init__(self, error: ToolError, why: str) -> None:
        super().__init__(why)
        self.error = error
        self.why = why


class WriteResult(NamedTuple):
    """The response to a write.

    If the original response was lost, `note` says how this one was obtained.
    """

    response: ToolResponse
    note: str | None = None


@dataclass(frozen=True, kw_only=True)
class PendingWrite:
    """A call that changes data and is about to be sent."""

    tool: Tool
    arguments: JsonObject  # keyed by original name
    earlier: tuple[ToolCall, float] | None
    """An equal call of an earlier execution whose response was lost, and the Unix time at which it
    was about to be sent. None if there is no such call.
    """
    make: Callable[[], ToolResponse]
    """Sends the call and returns its response. The idempotency key is the same each time."""
    intend: Callable[[Json], None]
    """Records that the call is about to be sent. The argument is a list with the response that the
    verifying tool gave just before, or None if there is no such response."""
    results: Callable[[], Sequence[Json]]
    """Returns the responses of the other calls of this tool in the run.

    Records in these responses were not created by this write."""


@dataclass(kw_only=True)
class WriteRecovery:
    """Sends calls that change data (writes) so that each takes effect at most once.

    Each run has one object of this class. Several threads may use it at the same time.
    """

    tools: Toolbox
    """All tools, including read-only tools that verify writes and that programs do not see."""
    on_unknown: OnUnknown = "stop"
    took_effect_before: float | None = None
    """Unix time. A person has found out that the writes of unknown outcome from before took effect.

    They count as done, with the result None. If this is None, no person has found out anything.
    """
    settle_seconds: float = 10.0
    """Seconds after which a service is assumed to have finished a write whose response was lost."""
    wait: Callable[[float], object] = time.sleep
    now: Callable[[], float] = time.time
    _turns: dict[str, threading.Lock] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def send(self, sending: PendingWrite) -> WriteResult:
        """Send a write and return its response. A write that took effect before is not sent again.

        Raises:
            ToolError: the write was refused, or never reached the tool.
            UnconfirmedWrite: it is unknown whether the write took effect.
        """
        if sending.earlier is not None and self.took_effect_before is not None:
            _, intended = sending.earlier
            if intended < self.took_effect_before:
                return WriteResult(ToolResponse(None), CONFIRMED)
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
                    response = ToolResponse(shown.response)
                    return WriteResult(response, f"Its answer was lost; {shown.why}.")
                _require_absent(shown, problem)
                self.wait(problem.retry_after or 0.0)
                note = f"Its answer was lost; {shown.why}, so it was sent again."
                sending.intend(baseline)  # the waiting time begins again with this attempt
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
        """Call the verifying tool until it shows the write, or `settle_seconds` have passed.

        Return whether the write took effect.

        Args:
            sending: the write.
            read: the read-only tool that verifies it, or None if no tool does.
            problem: the error of the write.
            baseline: a list with the response of `read` before the write, or None without one.
            intended: the Unix time at which the write was about to be sent.
        """
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
    """Call the tool that verifies a write, and return its response.

    Raises:
        ToolError: the call failed.
    """
    needed = [name for name in read.protocol.parameters if name in read.protocol.required]
    return read.call({name: sending.arguments[name] for name in needed})


def _read_baseline(read: Tool | None, sending: PendingWrite) -> Json:
    """Return the response of the verifying tool before a write, as a list of one element.

    The list distinguishes a response of null from no response. Return None if no tool verifies the
    write, or if the call of the verifying tool fails.
    """
    if read is not None:
        with suppress(ToolError):
            return [_call_verifier(read, sending)]
    return None


def _require_absent(shown: Verification, problem: ToolError) -> None:
    """Check that a write did not take effect, so that it may be sent again.

    Raises:
        UnconfirmedWrite: the write may have taken effect.
        ToolError: the service refused the write (409).
    """
    if shown.state == "unclear":
        raise UnconfirmedWrite(problem, shown.why)
    if problem.status == 409:
        raise _as_refused(problem)


def _require_unknown_outcome(
    error: ToolError, earlier: ToolError | None, sending: PendingWrite
) -> None:
    """Check that a write may have taken effect in spite of `error`, the error of its last attempt.

    `earlier` is the error of the attempt before that, or None if there was only one attempt. It
    matters for writes with an idempotency key. If both attempts were answered with HTTP 409, the
    service has refused the write.

    Raises:
        ToolError: the write had no effect.
    """
    if error.outcome != "unknown":
        raise error
    if sending.tool.takes_idempotency_key and _is_second_conflict(earlier, error):
        # If the first attempt had succeeded, the same key would return its response again.
        raise _as_refused(error) from error


def _is_second_conflict(problem: ToolError | None, error: ToolError) -> bool:
    """Return True if two attempts in succession to send a write were answered with HTTP 409.

    `problem` is the error of the first attempt, and `error` that of the second.
    """
    return problem is not None and problem.status == 409 and error.status == 409


def _as_refused(error: ToolError) -> ToolError:
    return ToolError(error.status, error.body, outcome="refused", curl=error.curl)
