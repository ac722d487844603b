"""Replay: runs a program again, and answers its tool calls from a recorded execution."""

from __future__ import annotations

import json
from collections.abc import Collection
from functools import partial

from protocols.errors import AtcError
from protocols.files import FileStore, TemporaryFiles
from protocols.schema import JsonObject
from protocols.toolbox import Toolbox
from protocols.worlds import Effect
from sandbox.base import Sandbox
from sandbox.journal import Journal, canonical_call
from sandbox.journal_entries import answer_from
from sandbox.limits import Limits
from sandbox.trace import ToolCall, Trace
from sandbox.wire import RunEnded

_text = partial(json.dumps, ensure_ascii=False)


class ReplayDiverged(AtcError):
    """Raised if a replayed program does not do the same as in the recorded execution.

    `index` is the index of the call at which they differ. `expected` describes what was recorded
    there, and `got` what the program did now. `redacted` is True if the program received a
    placeholder instead of a secret before that: it may have needed the characters of the secret.
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
    files: FileStore | None = None,
) -> Trace:
    """Run a program again with recorded answers, and return the new trace.

    Args:
        source: the program.
        tools: the tools of the program. They are not called.
        recorded: the trace of the recorded execution.
        sandbox: the sandbox in which the program runs.
        limits: the limits of the run.
        secrets: the placeholders that replace secrets in the recording.
        files: the files of the recorded run, whose bytes are no part of a trace.

    Raises:
        ReplayDiverged: a call, the number of calls, the failure or the answer is different from the
            recording.
        SandboxUnavailable: the sandbox could not start, or ended unexpectedly.
    """
    try:
        trace = sandbox.run(source, tools, limits=limits, journal=ReplayJournal(recorded, files))
        _compare(recorded, trace)
    except ReplayDiverged as departure:
        seen = source + _text(
            [[call.result, call.error] for call in recorded.calls[: departure.index]]
        )
        departure.redacted = any(placeholder in seen for placeholder in secrets)
        raise
    return trace


class ReplayJournal(Journal):
    """A journal that answers the k-th call of a program with the k-th recorded result or error.

    If the host ended the recorded execution, for example because of its time limit or because a
    person had to approve a call, the replay ends at the same call.
    """

    def __init__(self, recorded: Trace, files: FileStore | None = None) -> None:
        super().__init__(pins=recorded.pins, files=files or TemporaryFiles())
        self._recorded = recorded
        self._stop = _first_unanswered_call(recorded)

    def find_answer(
        self,
        call: ToolCall,
        *,
        writes: bool,  # noqa: ARG002
        defaults: JsonObject,
        repeats: Effect | None = None,  # noqa: ARG002
    ) -> ToolCall:
        """Return `call`, a call of the replayed program, with the recorded result.

        Raises:
            ReplayDiverged: the recorded call has another tool or other arguments.
            RunEnded: the recorded execution ended during this call.
        """
        failure = self._recorded.failure
        calls = self._recorded.calls
        expected = calls[call.index] if call.index < len(calls) else None
        if expected is not None:
            asked = {**defaults, **call.arguments}
            recorded = {**defaults, **expected.arguments}
            if canonical_call(call.tool, asked, call.query) != canonical_call(
                expected.tool, recorded, expected.query
            ):
                raise ReplayDiverged(
                    call.index, format_recorded_call(expected), format_recorded_call(call)
                )
        if failure is not None and self._stop is not None and call.index >= self._stop:
            raise RunEnded(failure)
        if expected is None:
            raise ReplayDiverged(call.index, "no further call", format_recorded_call(call))
        return answer_from(expected, call)

    def record_outcome(self, call: ToolCall) -> None:
        """Do nothing, because a replay is not recorded."""


def format_recorded_call(call: ToolCall) -> str:
    """Return a tool call as text, such as `find(limit=5)`.

    The notation is that of Python, but the values are JSON.
    """
    arguments = [f"{name}={_text(value)}" for name, value in call.arguments.items()]
    return f"{call.tool}({', '.join(arguments)})"


def _first_unanswered_call(recorded: Trace) -> int | None:
    """Return the index of the first call that got no reply because the host ended the recorded run.

    Return None if the run ended in another way. If the program exceeded a limit itself, such as its
    memory, it will exceed it again in the replay.
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
    """Return how an execution of a program ended, as text: its failure, or else what it printed.

    If it printed nothing, the text has its value.
    """
    failure = trace.failure
    if failure is None:
        return f"the answer {trace.stdout.strip() or _text(trace.value)}"
    if failure.kind == "limit":  # its message has varying numbers
        return failure.type
    at = f" (line {failure.line})" if failure.line is not None and failure.kind != "paused" else ""
    return f"{failure.type}: {failure.message}{at}"
