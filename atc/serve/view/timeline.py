"""The time of a run as a waterfall: when the model was asked, and when calls were made.

A run may wait for hours, for a person or until it is resumed. So time in which nothing was done is
drawn short.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from atc.store.stored import Exchange, StoredRun
from sandbox.journal_entries import RecordedCall

_SHORT = 0.03
"""The longest time in which nothing was done that is drawn as it was, as a part of the rest."""
_MOST_BARS = 200
"""Maximum number of bars of one row. Calls with less time between them become one bar."""


class Span(NamedTuple):
    """A time in which something was done. Both are Unix seconds."""

    begins: float
    ends: float


class Bar(NamedTuple):
    """A bar of a row: where it begins and how long it is, in percent of the whole width."""

    at: float
    width: float


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """A request to the model, or the calls of one execution of a program."""

    kind: Literal["model", "calls"]
    name: str
    """The purpose of the request, such as `write`; for calls, how many there were."""
    after: float
    """Seconds from the start of the run."""
    seconds: float
    """Seconds in which the model wrote, or in which at least one call was under way."""
    bars: Sequence[Bar]


@dataclass(frozen=True, slots=True)
class Timeline:
    """The rows in the order in which they began, and the times of all rows together."""

    rows: Sequence[TimelineRow]
    model_seconds: float
    call_seconds: float
    """Seconds in which at least one call was under way."""
    shortened: bool
    """True if time in which nothing was done is drawn shorter than it was."""


def make_timeline(stored: StoredRun) -> Timeline | None:
    """Return the waterfall of a run; None if the times of its requests are not known."""
    begun = stored.summary.created
    found: list[tuple[Literal["model", "calls"], str, list[Span]]] = [
        ("model", one.purpose, [_span_of_reply(one)])
        for one in stored.exchanges
        if one.asked is not None
    ]
    if len(found) < len(stored.exchanges):
        return None
    executions = dict.fromkeys(one.execution for one in stored.calls)
    for execution in executions:
        spans = _spans_of_calls(one for one in stored.calls if one.execution == execution)
        if spans:
            number = f"{len(spans):,} call" + ("" if len(spans) == 1 else "s")
            found.append(("calls", number, _join(spans)))
    if not found:
        return None
    found.sort(key=lambda row: row[2][0].begins)
    scale = _Scale([span for _, _, spans in found for span in spans], begun)
    rows = [
        TimelineRow(kind, name, spans[0].begins - begun, _length(spans), scale.bars(spans))
        for kind, name, spans in found
    ]
    model, calls = (sum(r.seconds for r in rows if r.kind == kind) for kind in ("model", "calls"))
    return Timeline(rows, model, calls, scale.shortened)


def _span_of_reply(exchange: Exchange) -> Span:
    """Return when the model worked on a request. A request without a reply has no length."""
    begins = exchange.asked or 0.0
    return Span(begins, begins + (exchange.reply.seconds if exchange.reply is not None else 0.0))


def _spans_of_calls(calls: Iterable[RecordedCall]) -> list[Span]:
    """Return when calls were under way, without those that the journal answered."""
    return [
        Span(one.intended, one.intended + one.call.seconds)
        for one in calls
        if one.intended is not None and not one.call.reused and one.call.outcome != "not_run"
    ]


def _join(spans: Iterable[Span], *, gap: float = 0.0) -> list[Span]:
    """Return the spans in order. Those with at most `gap` seconds between them become one."""
    joined: list[Span] = []
    for span in sorted(spans):
        if joined and span.begins <= joined[-1].ends + gap:
            joined[-1] = Span(joined[-1].begins, max(joined[-1].ends, span.ends))
        else:
            joined.append(span)
    return joined


def _length(spans: Iterable[Span]) -> float:
    """Return the seconds of all spans together, which do not overlap."""
    return sum(span.ends - span.begins for span in spans)


class _Scale:
    """Where moments of a run are drawn."""

    def __init__(self, spans: Sequence[Span], begun: float) -> None:
        busy = _join([Span(begun, begun), *spans])
        longest = _SHORT * (_length(busy) or 1.0)
        self._pieces: list[tuple[Span, float]] = []  # each with where it begins, in drawn seconds
        self.shortened = False
        at = 0.0
        for before, span in pairwise([busy[0], *busy]):
            idle = max(span.begins - before.ends, 0.0)
            self.shortened |= idle > longest
            at += min(idle, longest)
            self._pieces.append((span, at))
            at += span.ends - span.begins
        self._whole = at or 1.0

    def bars(self, spans: Sequence[Span]) -> list[Bar]:
        """Return the bars of a row."""
        gap = 0.0
        while len(spans) > _MOST_BARS:
            gap = 2 * gap or self._whole / 1000
            spans = _join(spans, gap=gap)
        places = [(self._at(one.begins), self._at(one.ends)) for one in spans]
        return [Bar(begins, ends - begins) for begins, ends in places]

    def _at(self, moment: float) -> float:
        """Return where a moment within a span is drawn, in percent of the width."""
        span, at = next(one for one in self._pieces if moment <= one[0].ends)
        return 100 * (at + max(moment - span.begins, 0.0)) / self._whole
