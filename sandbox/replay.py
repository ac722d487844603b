"""Replay: a recorded execution answers its program's calls, so that it runs again with nothing behind it."""

from __future__ import annotations

import json
from collections.abc import Collection
from functools import partial

from protocols.errors import AtcError
from protocols.schema import JsonObject
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.journal import Journal, answer_from, canonical_call
from sandbox.limits import Limits
from sandbox.trace import ToolCall, Trace
from sandbox.wire import RunEnded

_text = partial(json.dumps, ensure_ascii=False)


class ReplayDiverged(AtcError):
    """A replay left its recording at call `index`: `expected` stood there, `got` was asked; `redacted`: after the
    program had seen a placeholder for a secret, with whose characters it may work.
    """

    def __init__(self, index: int, expected: str, got: str) -> None:
        super().__init__(index, expected, got)
        self.index = index
        self.expected = expected
        self.got = got
        self.redacted = False

    def __str__(self) -> str:
        why = (
            "; the program may need the characters of a secret, of which it holds a placeholder"
            * self.redacted
        )
        return f"the replay left its recording at call {self.index}: expected {self.expected}, got {self.got}{why}"


def replay(
    source: str,
    tools: Toolbox,
    recorded: Trace,
    *,
    sandbox: Sandbox,
    limits: Limits,
    secrets: Collection[str] = (),
) -> Trace:
    """Run the program again, its calls answered by the recorded ones. The trace has the same calls and the same end.

    `secrets` are the placeholders that stand in the recording.

    Raises:
        Diverged: a call, the number of calls, the failure or the answer is not the recorded one.
        SandboxUnavailable: the sandbox could not start, or died.
    """
    try:
        trace = sandbox.run(source, tools, limits=limits, journal=ReplayJournal(recorded))
        _compare(recorded, trace)
    except ReplayDiverged as departure:
        seen = source + _text(
            [[call.result, call.error] for call in recorded.calls[: departure.index]]
        )
        departure.redacted = any(placeholder in seen for placeholder in secrets)
        raise
    return trace


class ReplayJournal(Journal):
    """Answers the k-th call of a program with the k-th recorded one, failed ones by their failure.

    Where the host ended the recorded execution (a write that nobody allowed, the wall clock), it ends again.
    """

    def __init__(self, recorded: Trace) -> None:
        super().__init__(pins=recorded.pins)
        self._recorded = recorded
        self._stop = _first_unanswered_call(recorded)

    def find_answer(self, call: ToolCall, *, writes: bool, defaults: JsonObject) -> ToolCall:  # noqa: ARG002 - as recorded, whatever it does
        """The recorded call.

        Raises:
            Diverged: another one stands there.
            RunEnded: this one was under way when the recorded execution ended.
        """
        failure = self._recorded.failure
        calls = self._recorded.calls
        expected = calls[call.index] if call.index < len(calls) else None
        if expected is not None:
            asked = {**defaults, **call.arguments}
            recorded = {**defaults, **expected.arguments}
            if canonical_call(call.tool, asked) != canonical_call(expected.tool, recorded):
                raise ReplayDiverged(
                    call.index, format_recorded_call(expected), format_recorded_call(call)
                )
        if failure is not None and self._stop is not None and call.index >= self._stop:
            raise RunEnded(failure)
        if expected is None:
            raise ReplayDiverged(call.index, "no further call", format_recorded_call(call))
        return answer_from(expected, call)

    def record_outcome(self, call: ToolCall) -> None:
        """Nothing: what is replayed is recorded already."""


def format_recorded_call(call: ToolCall) -> str:
    """The call as a program writes it, with JSON for its values."""
    return f"{call.tool}({', '.join(f'{name}={_text(value)}' for name, value in call.arguments.items())})"


def _first_unanswered_call(recorded: Trace) -> int | None:
    """The first call whose reply the recorded program never got because the host ended it; None where it did not.

    A limit that the program itself runs into, such as that of memory, is met again.
    """
    failure = recorded.failure
    calls = recorded.calls
    if failure is None or (
        failure.kind != "paused" and (failure.kind, failure.type) != ("limit", "wall_seconds")
    ):
        return None
    if failure.call is not None:
        return failure.call
    stop = len(calls)
    while (
        stop
        and calls[stop - 1].error is not None
        and calls[stop - 1].outcome in ("unknown", "not_run")
    ):
        stop -= 1
    return stop


def _compare(recorded: Trace, trace: Trace) -> None:
    for expected, got in zip(recorded.calls, trace.calls, strict=False):
        # What the host refuses for its arguments never reaches the journal.
        if (expected.error is None) != (got.error is None) or expected.tool != got.tool:
            raise ReplayDiverged(
                got.index, _with_recorded_error(expected), _with_recorded_error(got)
            )
    if _describe_end(recorded) != _describe_end(trace):
        raise ReplayDiverged(len(trace.calls), _describe_end(recorded), _describe_end(trace))
    if len(trace.calls) < len(recorded.calls) and _first_unanswered_call(recorded) is None:
        raise ReplayDiverged(
            len(trace.calls),
            format_recorded_call(recorded.calls[len(trace.calls)]),
            "the end of the program",
        )


def _with_recorded_error(call: ToolCall) -> str:
    return (
        format_recorded_call(call)
        if call.error is None
        else f"{format_recorded_call(call)}, which fails with {call.error!r}"
    )


def _describe_end(trace: Trace) -> str:
    """How a program ended: by its failure, or with what it printed, or else its value."""
    failure = trace.failure
    if failure is None:
        return f"the answer {trace.stdout.strip() or _text(trace.value)}"
    if failure.kind == "limit":  # the figures in its message are those of the clock
        return failure.type
    at = f" (line {failure.line})" if failure.line is not None and failure.kind != "paused" else ""
    return f"{failure.type}: {failure.message}{at}"
