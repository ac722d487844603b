"""The journal of a run: records its calls, and answers calls that were already made.

A run may have several executions of a program, for example after a crash or a pause. The later ones
get the answers to repeated calls from the journal.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from bisect import insort
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

from protocols.files import FileStore, TemporaryFiles
from protocols.schema import JsonObject
from protocols.tool import Tool
from protocols.worlds import Effect
from sandbox.arguments import contract
from sandbox.journal_entries import (
    CallPosition,
    JournalEntry,
    RecordedCall,
    answer_from,
    is_same_request,
)
from sandbox.lost_writes import WriteRecovery
from sandbox.repeated_failures import FailedCalls, MadeCall, failures_to_repeat
from sandbox.trace import Pins, ToolCall
from sandbox.write_verification import sorted_json

Sink = Callable[[int, ToolCall, bool], None]
"""A function that stores a call.

It gets the number of the execution (from 0), the call, and True if the call is complete. If it is
not, the call is about to be sent."""
_WHOLE = re.compile(r'("(?:[^"\\]++|\\.)*+")|\.0(?=[],}])')  # strings, and the `.0` of whole floats


@dataclass
class Journal:
    """All calls of one run, in all its executions.

    A write is a call of a tool that may change data; a read is a call of any other tool.

    - Calls are equal if they have the same tool and equal arguments. The k-th of several equal
      calls is answered by the k-th one that was completed in an earlier execution. A read is
      answered only if the same writes precede it, because a write may have changed the result.
      A call of a session, or a write in a world that a factory makes, is answered only if the same
      writes and calls of sessions precede it. A pure call is always answered.
    - Failed calls are made again, except if the same program is executed again, see `repeat`: a
      call after whose failure the program continued then fails in the same way.
    - A write with an unknown outcome is not simply sent again: `write_recovery` first finds out
      whether it took effect.

    `sink` stores each call before it is sent, and again when it is complete. `run` is the id of the
    stored run, or None. Idempotency keys depend on this id, so they are the same after a restart.
    """

    sink: Sink | None = None
    prepare: Sink | None = None
    """Called before `sink` with the same arguments, to do slow work in advance. If the run ends
    meanwhile, `sink` is not called."""
    confirm: Callable[[], object] | None = None
    """Called directly before a call is sent. Raises if another process has taken over the run."""
    pins: Pins = field(default_factory=Pins)
    run: str | None = None
    write_recovery: WriteRecovery | None = None
    preanswered: tuple[ToolCall, ...] = ()
    """The first calls of each next execution, with their results from an earlier one.

    They are not made again, as long as the execution begins with the same calls in the same order.
    If one of them failed, it fails in the same way, also if an equal call has succeeded since."""
    find_earlier: Callable[[str], ToolCall | None] | None = None
    """Returns the read with a canonical text of the run that this one follows, see `EarlierReads`.
    It answers an equal read that this run makes before any write."""
    files: FileStore = field(default_factory=TemporaryFiles)  # those that tools return
    execution: int = -1  # number of the current execution, from 0; -1 before the first one
    _completed: dict[str, list[JournalEntry]] = field(default_factory=dict)
    _issued: dict[str, int] = field(default_factory=dict)
    _repeats_beginning: bool = True
    """True if all calls of this execution so far were the same as in `preanswered`."""
    _history: tuple[str, ...] = ()
    _positions: dict[int, CallPosition] = field(default_factory=dict)
    _unconfirmed: dict[str, ToolCall] = field(default_factory=dict)
    _made: list[MadeCall] = field(default_factory=list)
    _failures: FailedCalls = field(default_factory=dict)
    """Failed calls that fail again in this execution."""
    _next_failures: FailedCalls = field(default_factory=dict)
    """Failed calls that fail again in the next execution."""
    _failed_again: dict[str, int] = field(default_factory=dict)
    """Number of calls that failed again in this execution, keyed by `CallPosition.key`."""
    _unstored_run_id: str = field(default_factory=lambda: secrets.token_hex(8))

    def open(self) -> Pins:
        """Begin an execution of the program, and return the values that are fixed for it.

        These pins are the random seed, start time and time zone. They are the same for all
        executions of the run.
        """
        self.execution += 1
        self._issued = {}
        self._repeats_beginning = True
        self._history = ()
        self._positions = {}
        self._unconfirmed = {}
        self._failures = self._next_failures
        self._next_failures = {}
        self._failed_again = {}
        return self.pins

    def repeat(self, *, since: int, ended_by: int | None) -> None:
        """Let the next execution, which repeats the last one, meet the same failures.

        A failed call after which the program continued fails again, because later calls may depend
        on the failure.

        Args:
            since: number of the first execution of the same program.
            ended_by: index of the call that ended the last execution, or None if no call is known
                to have ended it. This call is made again.
        """
        made = [one for one in self._made if one.execution >= since]
        self._next_failures = failures_to_repeat(made, ended_by)

    def find_answer(
        self,
        call: ToolCall,
        *,
        writes: bool,
        defaults: JsonObject,
        repeats: Effect | None = None,
    ) -> ToolCall | None:
        """Return `call` with the result of an earlier equal call, or None if it must be made.

        If it is unknown whether an equal write took effect, the result is an error, so that the
        write is not sent twice.

        Args:
            call: the call of the program.
            writes: True if the tool may change data.
            defaults: the default values of arguments. A call that contains a default value and one
                that leaves it out are equal.
            repeats: the rule for tools that are neither plain reads nor plain writes, see
                `Tool.repeats`.
        """
        position = self._note_issued(call, defaults, writes=writes, repeats=repeats)
        self._positions[call.index] = position
        entry = position.entry
        again = self._failures.get((position.key, position.occurrence))
        if (repeated := self._find_repeated(call, writes=writes) or again) is not None:
            if repeated.error is not None:
                self._positions[call.index] = self._note_failed_again(position)
            return answer_from(repeated, call)
        at_any_time = repeats == "pure" or (writes and repeats != "session")
        if entry is not None and entry.may_answer(position, at_any_time=at_any_time):
            return answer_from(entry.call, call)
        if (failed := self._find_earlier_failure(call, writes=writes)) is not None:
            self._positions[call.index] = self._note_failed_again(position)
            return answer_from(failed, call)
        if entry is None and (lost := self._unconfirmed.get(position.key)) is not None:
            message = f"not sent: an equal call is without an outcome ({lost.error})"
            return replace(call, outcome="not_run", error=message)
        known = None if writes else self._find_earlier_read(position)
        return None if known is None else answer_from(known, call)

    def _note_issued(
        self, call: ToolCall, defaults: JsonObject, *, writes: bool, repeats: Effect | None
    ) -> CallPosition:
        """Note that the program makes a call now, and return its position among equal calls.

        The arguments are those of `find_answer`.
        """
        arguments = {**defaults, **call.arguments} if defaults else call.arguments
        text = canonical_call(call.tool, arguments, call.query)
        if writes and ".0" in text:  # 5 and 5.0 are the same write
            text = _WHOLE.sub(lambda found: found[1] or "", text)
        occurrence = self._issued[text] = self._issued.get(text, -1) + 1
        entries = self._completed.get(text, ())
        # Entries of this execution are never an answer: they are numbered below `place`.
        place = occurrence - self._failed_again.get(text, 0)
        entry = entries[place] if place < len(entries) else None
        position = CallPosition(text, occurrence, place, entry, self._history, writes)
        if writes or repeats == "session":
            self._history = (*self._history, text)
        return position

    def _note_failed_again(self, position: CallPosition) -> CallPosition:
        """Note that a call fails again, so that the next equal call gets its place."""
        self._failed_again[position.key] = self._failed_again.get(position.key, 0) + 1
        return position._replace(entry=None)

    def _find_repeated(self, call: ToolCall, *, writes: bool) -> ToolCall | None:
        """Return the call that `call` repeats as part of the same beginning, or None.

        A write with an unknown outcome is never returned, because it has to be looked up.
        """
        if call.index >= len(self.preanswered):
            return None
        was = self.preanswered[call.index]
        self._repeats_beginning = self._repeats_beginning and is_same_request(was, call)
        is_lost = writes and was.outcome == "unknown"
        return was if self._repeats_beginning and not is_lost else None

    def _find_earlier_failure(self, call: ToolCall, *, writes: bool) -> ToolCall | None:
        was = self.preanswered[call.index] if call.index < len(self.preanswered) else None
        if was is None or was.error is None or (writes and was.outcome == "unknown"):
            return None
        return was if is_same_request(was, call) else None

    def _find_earlier_read(self, position: CallPosition) -> ToolCall | None:
        """Return the read of the run that this one follows that answers a read of this run.

        Only the first of several equal reads is answered. A program that repeats a read waits for
        another result.
        """
        if self.find_earlier is None or position.entry or position.occurrence or position.history:
            return None
        found = self.find_earlier(position.key)
        return None if found is None or self.writes() else found

    def earlier_write(self, index: int) -> tuple[ToolCall, float] | None:
        """Return the earlier write that a call repeats, if the outcome of that write is unknown.

        `index` is the index of the open call. The result is a pair of the write and the Unix time
        at which it was about to be sent. Return None if the call repeats no such write.
        """
        entry = self._positions[index].entry
        if entry is None or entry.call.outcome != "unknown":
            return None
        return entry.call, entry.intended

    def key(self, index: int) -> str:
        """Return the idempotency key of the open call with this index.

        The same call gets the same key in every execution of the run. So a service can recognise a
        call that is sent again, and does not act twice.
        """
        position = self._positions[index]
        text = f"{self.run or self._unstored_run_id}\n{position.occurrence}\n{position.key}"
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def record(self, call: ToolCall, *, complete: bool) -> None:
        """Store a call that is about to be sent.

        If `complete` is True, the call has its outcome already. For example, it is not sent at all,
        because its arguments are invalid.
        """
        if self.sink is not None:
            self.sink(self.execution, call, complete)

    def record_outcome(self, call: ToolCall) -> None:
        """Record the outcome of a call, even if its result was taken from the journal.

        The outcomes need not be recorded in the order in which the calls were made.
        """
        self.record(call, complete=True)
        position = self._positions[call.index]
        self._made.append(MadeCall(self.execution, position, call))
        lost = position.writes and call.outcome == "unknown"
        if lost:
            self._unconfirmed[position.key] = call
        if call.reused and call.earlier is not None and position.entry is None:
            self._add_entry(position, call, self.execution, None)
        elif call.reused or (call.outcome != "done" and not lost):
            self._note_refused_write(position, call)
        else:
            self._add_entry(position, call, self.execution, time.time() if lost else None)

    def restore(self, calls: Sequence[RecordedCall], tools: Mapping[str, Tool]) -> None:
        """Load the stored calls of a run, before its first execution in this process.

        Args:
            calls: the stored calls, in the order in which the program made them.
            tools: the tools, keyed by alias. Calls of other tools are ignored.
        """
        for recorded in calls:
            while self.execution < recorded.execution:
                self.open()
            if recorded.call.tool in tools:
                self._replay(recorded, tools[recorded.call.tool])

    def mark_not_sent(self) -> None:
        """Treat all writes with unknown outcome as not sent, so that they may be sent again."""
        for entries in self._completed.values():
            for k, entry in enumerate(entries):
                if entry.call.outcome == "unknown":
                    entries[k] = entry._replace(call=replace(entry.call, outcome="refused"))

    def completed_calls(self) -> list[ToolCall]:
        """Return all successful calls of all executions, in the order in which they were made."""
        return [
            entry.call for _, _, entry in self._entries_in_order() if entry.call.outcome == "done"
        ]

    def writes(self) -> tuple[ToolCall, ...]:
        """Return all writes that took effect or may have taken effect, in all executions.

        They are in the order in which they were made.
        """
        return tuple(entry.call for _, _, entry in self._write_entries())

    def orphans(self) -> tuple[ToolCall, ...]:
        """Return the writes of earlier executions that the last execution did not repeat.

        These are writes that took effect or may have taken effect.
        """
        return tuple(
            entry.call for key, k, entry in self._write_entries() if self._issued.get(key, -1) < k
        )

    def unconfirmed_writes(self) -> tuple[ToolCall, ...]:
        """Return the writes that may or may not have taken effect."""
        return tuple(call for call in self.writes() if call.outcome == "unknown")

    def _write_entries(self) -> list[tuple[str, int, JournalEntry]]:
        return [
            one
            for one in self._entries_in_order()
            if one[2].writes and one[2].call.outcome in ("done", "unknown")
        ]

    def _entries_in_order(self) -> list[tuple[str, int, JournalEntry]]:
        # Copies, because another thread may record an outcome meanwhile.
        found = [
            (key, k, entry)
            for key, entries in list(self._completed.items())
            for k, entry in enumerate(list(entries))
        ]
        return sorted(found, key=lambda one: one[2].order)

    def _replay(self, recorded: RecordedCall, tool: Tool) -> None:
        """Add a stored call to the journal, as if the program made the call now."""
        call = recorded.call
        execution = recorded.execution
        position = self._note_issued(
            call,
            contract(tool.protocol).defaults,
            writes=tool.protocol.writes,
            repeats=tool.repeats,
        )
        self._made.append(MadeCall(execution, position, call))
        if call.reused:
            if call.error is not None:
                self._note_failed_again(position)
            elif call.earlier is not None and position.entry is None:
                self._add_entry(position, call, execution, None)
            return
        if call.outcome == "done" and recorded.complete:
            self._add_entry(position, call, execution, recorded.intended)
        elif tool.protocol.writes and (not recorded.complete or call.outcome == "unknown"):
            message = call.error or "the process ended before its answer was recorded"
            self._add_entry(
                position,
                replace(call, outcome="unknown", error=message),
                execution,
                recorded.intended,
            )
        else:
            self._note_refused_write(position, call)

    def _add_entry(
        self, position: CallPosition, call: ToolCall, execution: int, intended: float | None
    ) -> None:
        entry = JournalEntry(
            (execution, call.index), call, position.history, position.writes, intended or 0.0
        )
        entries = self._completed.setdefault(position.key, [])
        if position.entry is not None:
            entries[position.place] = entry._replace(order=position.entry.order)
        else:
            insort(entries, entry, key=attrgetter("order"))

    def _note_refused_write(self, position: CallPosition, call: ToolCall) -> None:
        """Store that a write did not take effect, because its tool refused it after all.

        Before, its outcome was unknown. The recorded call is kept with the new outcome, so that the
        positions of later equal calls do not change. Do nothing for any other call.
        """
        if (
            call.outcome == "refused"
            and position.entry is not None
            and position.entry.call.outcome == "unknown"
        ):
            self._completed[position.key][position.place] = position.entry._replace(call=call)


def canonical_call(tool: str, arguments: JsonObject, query: JsonObject | None = None) -> str:
    """Return a text that identifies a tool and arguments, so that equal calls have equal texts.

    `1`, `1.0`, `true` and `"1"` are different arguments. `query` is `ToolCall.query`.
    """
    return sorted_json([tool, arguments, query] if query else [tool, arguments])
