"""The run's record of calls: intent before, outcome after, and which call of a later attempt an earlier one answers."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import NamedTuple

from protocols.jsontypes import JsonObject
from sandbox.quickjson import encoder
from sandbox.trace import Pins, ToolCall

Sink = Callable[[int, ToolCall, bool], None]
"""Takes the execution's number (0-based), the call, and whether it is complete (False: an intent, not sent yet)."""


@dataclass
class Journal:
    """All calls of one run, over all its attempts.

    The k-th call with a given tool and canonical arguments is answered by the k-th such call that completed in an
    earlier execution; a read only while the same writes precede it, since a write may have changed what it would see.
    Calls that failed are never reused.

    `sink` is told of each intent *before* the call is sent and of each completed call after it.
    """

    sink: Sink | None = None
    pins: Pins = field(default_factory=Pins)
    _done: dict[str, list[_Entry]] = field(default_factory=dict)
    _issued: dict[str, int] = field(default_factory=dict)
    _history: tuple[str, ...] = ()
    _places: dict[int, _Place] = field(default_factory=dict)
    _unfiled: list[tuple[_Place, ToolCall]] = field(default_factory=list)
    _execution: int = -1

    def open(self) -> Pins:
        """Begin an execution. Gives what it must pin, the same for every execution of the run."""
        self._execution += 1
        for place, call in sorted(self._unfiled, key=lambda one: one[1].index):
            key = canonical(call.tool, {**place.defaults, **call.arguments})
            self._done.setdefault(key, []).append(_Entry((self._execution - 1, call.index), call, place.history))
        self._unfiled = []
        self._issued, self._history, self._places = {}, (), {}
        return self.pins

    def before(self, call: ToolCall, *, writes: bool, defaults: JsonObject) -> ToolCall | None:
        """Record the intent to make `call`, or give the completed call that answers it.

        `defaults` are values of arguments that the call leaves out, so that leaving one out and giving its default
        are the same call.
        """
        if self._done or writes:
            key = canonical(call.tool, {**defaults, **call.arguments})
            occurrence = self._issued[key] = self._issued.get(key, -1) + 1
        else:  # there is nothing yet that could answer it
            key, occurrence = "", 0
        history = self._history
        if writes:
            self._history = (*history, key)
        entries = self._done.get(key, ())
        known = occurrence < len(entries)
        self._places[call.index] = _Place(key, occurrence if known else None, history, defaults)
        if known and (writes or entries[occurrence].history == history):
            found = entries[occurrence].call
            return replace(found, index=call.index, line=call.line, started=call.started, seconds=0.0, reused=True)
        if self.sink is not None:
            self.sink(self._execution, replace(call, outcome="unknown"), False)
        return None

    def after(self, call: ToolCall) -> None:
        """Record how a call came out, in whatever order calls do. Those answered by the journal are told too."""
        if self.sink is not None:
            self.sink(self._execution, call, True)
        if call.outcome != "done" or call.reused:
            return
        place = self._places[call.index]
        if not self._done:
            self._unfiled.append((place, call))
            return
        entries = self._done.setdefault(place.key, [])
        entry = _Entry((self._execution, call.index), call, place.history)
        if place.instead is None:
            insort(entries, entry, key=_order)
        else:
            entries[place.instead] = entry


class _Place(NamedTuple):
    """Where an open call stands: what it is, which earlier call it replaces if any, the writes issued before it."""

    key: str
    instead: int | None
    history: tuple[str, ...]
    defaults: JsonObject


class _Entry(NamedTuple):
    """A call that completed. `order` is that of issue: execution, then index."""

    order: tuple[int, int]
    call: ToolCall
    history: tuple[str, ...]


def canonical(tool: str, arguments: JsonObject) -> str:
    """One text for one call: keys sorted, and `1`, `1.0`, `true` and `"1"` all different."""
    return _encode([tool, arguments])


_encode = encoder(ascii_only=False, sort_keys=True)
_order = attrgetter("order")
