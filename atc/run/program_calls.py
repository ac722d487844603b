"""Calls of programs: the key of a call, the calls that wrote, and the calls of a rerun.

The journal records the calls of a run, and finds a recorded call by its key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from atc.core.types import Attempt
from atc.run.strategy_run import Parts, Run
from protocols.schema import Json
from sandbox.journal import canonical_call
from sandbox.journal_entries import is_same_request
from sandbox.trace import ToolCall

CallKey: TypeAlias = tuple[str, int]
"""Key of a call in the journal: the tool with its arguments, and a counter among equal calls."""


def seen_output(attempts: Sequence[Attempt]) -> bool:
    """Return True if the model may have seen tool output, because a program has made a call.

    Later programs may then contain values from this output.
    """
    return any(attempt.calls for attempt in attempts)


def list_outputs(attempts: Sequence[Attempt]) -> Iterator[Json]:
    """Yield the responses that the programs of earlier attempts received, and what they printed."""
    for attempt in attempts:
        if attempt.trace is not None:
            yield from (call.result for call in attempt.calls if call.error is None)
            yield from (call.error for call in attempt.calls if call.error is not None)
            yield attempt.trace.stdout


def find_writes(run: Run) -> dict[CallKey, ToolCall]:
    """Return the calls of all attempts that wrote something or may have, keyed by `CallKey`.

    They are read from the attempts, not from the run's journal. The journal of a resumed run also
    contains calls that come later than these attempts. Writes in the world of a factory are left
    out, because the next program begins in a fresh one.
    """
    found: dict[CallKey, ToolCall] = {}
    for attempt in run.attempts:
        for key, call in number_calls(attempt.calls):
            if is_made_write(call, run.parts) and run.parts.toolbox[call.tool].fresh is None:
                found.setdefault(key, call)
    return found


def number_calls(calls: Iterable[ToolCall]) -> Iterator[tuple[CallKey, ToolCall]]:
    """Yield the calls of one execution, each with the key that identifies it in the run's journal.

    The key is a pair: the call as text, and the number of equal calls before it in the execution.
    """
    seen: Counter[str] = Counter()
    for call in calls:
        key = canonical_call(call.tool, call.arguments, call.query)
        yield (key, seen[key]), call
        seen[key] += 1


def has_written(attempt: Attempt, parts: Parts) -> bool:
    """Return True if a call of the attempt wrote something or may have.

    A repeated call counts, too, even if its response was taken from the journal instead of sending
    it again.
    """
    return any(is_made_write(call, parts) for call in attempt.calls)


def is_made_write(call: ToolCall, parts: Parts) -> bool:
    """Return True if a call wrote something or may have."""
    return call.outcome in ("done", "unknown") and parts.toolbox[call.tool].protocol.writes


def merge_calls(calls: Sequence[ToolCall], before: Attempt) -> tuple[ToolCall, ...]:
    """Return the calls of a program's rerun, merged with those of the execution before it.

    A call that the rerun repeats is not sent again, because the run's journal has its response.
    Such a call appears only once in the result, as the original call.
    """
    shown, made = _show_as_made(calls, before)
    return (*_renumber(made, first=0), *_renumber(shown, first=len(made)))


def _renumber(calls: Sequence[ToolCall], *, first: int) -> Iterator[ToolCall]:
    """Yield calls of one execution with the indexes `first`, `first + 1` and so on."""
    places = {call.index: first + place for place, call in enumerate(calls)}
    for call in calls:
        before = None if call.continues is None else places.get(call.continues)
        yield replace(call, index=places[call.index], continues=before)


def show_as_made(calls: Sequence[ToolCall], before: Attempt) -> tuple[ToolCall, ...]:
    """Return the calls of a rerun, where a call that was really made earlier is shown as made.

    The rerun belongs to the same attempt as `before`. If it repeats a call of `before`, the journal
    answers the repeated call. The attempt should show the call as sent, so the earlier record of
    the call replaces that of the repeated one.
    """
    return tuple(_show_as_made(calls, before)[0])


def _show_as_made(
    calls: Sequence[ToolCall], before: Attempt
) -> tuple[list[ToolCall], list[ToolCall]]:
    """Return the calls of a rerun (see `show_as_made`), and the calls of `before` that it lacks."""
    made = [call for call in before.calls if not call.reused]
    shown: list[ToolCall] = []
    for call in calls:
        first = next(
            (m for m in made if call.reused and call.earlier is None and is_same_request(m, call)),
            None,
        )
        if first is not None:
            made.remove(first)
            call = replace(call, reused=False, seconds=first.seconds)
        shown.append(call)
    return shown, made
