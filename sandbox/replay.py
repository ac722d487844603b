"""Replay: run a program again with the calls of a recorded execution as answers."""

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
    """A replay made another call than its recording. `expected` is the recorded call at `index`.

    `redacted` is True if the program had received a placeholder for a secret before, whose
    characters it may need.
    """

    def __init__(self, index: int, expected: str, got: str) -> None:
        super().__init__(index, expected, got)
        self.index = index
        self.expected = expected
        self.got = got
        self.redacted = False

    def __str__(self) -> str:
        text = (
            f"the replay left its recording at call {self.index}: "
            f"expected {self.expected}, got {self.got}"
        )
        if self.redacted:
            text += (
                "; the program may need the characters of a secret, of which it holds a placeholder"
            )
        return text


def replay(
    source: str,
    tools: Toolbox,
    recorded: Trace,
    *,
    sandbox: Sandbox,
    limits: Limits,
    secrets: Collection[str] = (),
) -> Trace:
    """Run a program again with recorded answers. The trace has the same calls and the same end.

    Args:
        source: the program.
        tools: its tools, which are not called.
        recorded: the trace of the recorded execution.
        sandbox: where the program runs.
        limits: the limits of the run.
        secrets: the placeholders for secrets in the recording.

    Raises:
        ReplayDiverged: a call, the number of calls, the failure or the answer differs.
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
    """Answers the k-th call of a program with the k-th recorded one, also with its error.

    If the host ended the recorded execution (an unapproved write, the wall clock), the replay ends
    at the same call.
    """

    def __init__(self, recorded: Trace) -> None:
        super().__init__(pins=recorded.pins)
        self._recorded = recorded
        self._stop = _first_unanswered_call(recorded)

    def find_answer(
        self,
        call: ToolCall,
        *,
        writes: bool,  # noqa: ARG002
        defaults: JsonObject,
    ) -> ToolCall:
        """Return the recorded call.

        Raises:
            ReplayDiverged: the recorded call is another one.
            RunEnded: the call was running when the recorded execution ended.
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
        """Record nothing, because the calls are recorded already."""


def format_recorded_call(call: ToolCall) -> str:
    """Return a call as a program writes it, with JSON for its values."""
    arguments = [f"{name}={_text(value)}" for name, value in call.arguments.items()]
    return f"{call.tool}({', '.join(arguments)})"


def _first_unanswered_call(recorded: Trace) -> int | None:
    """Return the index of the first call that got no reply because the host ended the run, or None.

    A limit that the program itself exceeds, such as memory, is exceeded again in the replay.
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
        # Calls with refused arguments never reach the journal.
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
    """Return how a program ended: its failure, its output, or its value."""
    failure = trace.failure
    if failure is None:
        return f"the answer {trace.stdout.strip() or _text(trace.value)}"
    if failure.kind == "limit":  # its message has varying numbers
        return failure.type
    at = f" (line {failure.line})" if failure.line is not None and failure.kind != "paused" else ""
    return f"{failure.type}: {failure.message}{at}"
