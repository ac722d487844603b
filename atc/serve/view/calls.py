"""The calls of one execution as rows: what was sent, what came, when, and lines that lead from a value to its uses."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from atc.findings import invocation
from atc.pages.formats import seconds, size
from atc.pages.markup import Html, join, tag, text
from atc.serve.view.provenance import Origin
from protocols.jsontypes import Json
from protocols.schema import shape
from sandbox.trace import ToolCall

_LANES = 6
"""Lines side by side at most; of further ones only the words and links tell."""
_STEP, _MIDDLE = 9, 17
"""Pixels between two lines, and down to the middle of a row's first line."""
_FOLDED = 700
"""Characters from which a response is folded away."""
_LONGEST_ARGUMENT, _LONGEST_SIGNATURE, _LONGEST_SHAPE = 60, 600, 110


@dataclass(frozen=True, slots=True)
class Shown:
    """A call and what the page knows besides: `open` has no outcome yet, `writes` may have changed something."""

    call: ToolCall
    writes: bool = False
    open: str = ""

    @property
    def outcome(self) -> tuple[str, str]:
        """How it came out: the class of its label, and its words."""
        if self.open:
            return ("running" if self.open == "running" else "unknown"), self.open
        if self.call.reused:
            return "journal", "from the journal"
        words = {"done": "done", "refused": "refused", "not_run": "not sent", "unknown": "outcome unknown"}
        outcome = self.call.outcome
        return ("failed" if outcome == "done" and self.call.error is not None else outcome), words[outcome]


def spelt(value: Json, *, indent: int | None = None) -> str:
    """A JSON value as text; a string as it is."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr, indent=indent)


def cut(value: str, most: int) -> Html:
    """As much of a text as is shown, with a note of what is missing."""
    if len(value) <= most:
        return text(value)
    return join(
        [text(value[:most]), tag("span", f"… {size(len(value) - most)} more: atc runs show --json", class_="cut")]
    )


def waterfall(
    shown: Sequence[Shown], origins: Mapping[int, Sequence[Origin]], *, prefix: str, whole: float, room: int
) -> Html:
    """The calls in order of issue. `whole`: seconds of the execution; `room`: characters of one call's texts.

    `prefix` begins the ids of rows, and those of the program's lines with `line`.
    """
    lanes = _Lanes(shown, origins)
    whole = max([whole, *(one.call.started + one.call.seconds for one in shown)], default=0.0) or 1.0
    rows = [
        tag(
            "li",
            lanes.drawing(number),
            _row(one, origins.get(one.call.index, ()), prefix, whole, room),
            id=f"{prefix}call{one.call.index}",
            class_=f"call {one.outcome[0]} beside-{lanes.count}",
        )
        for number, one in enumerate(shown)
    ]
    return tag("ol", *rows, class_="waterfall")


def _row(one: Shown, origins: Sequence[Origin], prefix: str, whole: float, room: int) -> Html:
    call, (kind, words) = one.call, one.outcome
    came = call.error if call.error is not None else "" if one.open else shape(call.result, depth=1)
    status = f", {call.status}" if call.status is not None else ""
    start, width = 100 * call.started / whole, max(100 * call.seconds / whole, 0.6)
    bar = tag(
        "svg",
        tag("rect", x=f"{min(start, 99.4):.2f}%", y=0, width=f"{width:.2f}%", height=6, rx=1.5),
        class_="bar",
        aria_hidden="true",
    )
    write = tag("span", "write", class_="class write") if one.writes else Html()
    summary = tag(
        "summary",
        tag("span", f"{call.index}", class_="no"),
        tag("span", _signature(call), class_="made"),
        tag("span", tag("span", f"{words}{status}", class_=f"class {kind}"), write, class_="marks"),
        tag("span", cut_short(came, _LONGEST_SHAPE), class_="came"),
        tag("span", "" if call.reused or one.open else seconds(call.seconds), class_="took"),
        bar,
    )
    return tag("details", summary, tag("div", *_opened(one, origins, prefix, room), class_="opened"),
               data_key=f"{prefix}call{call.index}")  # fmt: skip


def _signature(call: ToolCall) -> Html:
    made = invocation(call, most=_LONGEST_ARGUMENT)[:_LONGEST_SIGNATURE]
    return tag("code", tag("b", made[: len(call.tool)]), made[len(call.tool) :])


def cut_short(value: str, most: int) -> str:
    """`value` on one line, with an ellipsis where it is longer."""
    flat = " ".join(value[: most * 4].split())
    return flat if len(flat) <= most else flat[: most - 1] + "…"


def _opened(one: Shown, origins: Sequence[Origin], prefix: str, room: int) -> list[Html]:
    call = one.call
    came_from: dict[str, list[Origin]] = {}
    for origin in origins:
        came_from.setdefault(origin.argument.partition(".")[0].partition("[")[0], []).append(origin)
    entries = []
    for name, value in call.arguments.items():
        told = [_told(origin, prefix) for origin in came_from.get(name, ())[:8]]
        more = len(came_from.get(name, ())) - 8
        if more > 0:
            told.append(tag("span", f"and {more:,} more", class_="origin"))
        entries += [tag("dt", tag("code", name)), tag("dd", tag("code", cut(spelt(value), room)), *told)]
    parts = [tag("dl", *entries, class_="arguments")] if entries else [tag("p", "No arguments.", class_="note")]
    if call.error is not None:
        parts.append(tag("p", cut(call.error, room), class_="error"))
    elif not one.open:
        whole = spelt(call.result, indent=1)
        result = tag("pre", cut(whole, room), class_="text", tabindex=0)
        if len(whole) > _FOLDED:
            result = tag("details", tag("summary", f"Response, {size(len(whole))}"), result,
                         data_key=f"{prefix}result{call.index}")  # fmt: skip
        parts.append(result)
    line = tag("a", f"line {call.line}", href=f"#{prefix}line{call.line}")
    notes = [join(["Called on ", line])]
    notes += [text(f"within the saved tool {call.within}")] if call.within is not None else []
    notes += [text(call.note)] if call.note is not None else []
    notes += [text(f"The response departs from its schema: {clause}") for clause in call.drift[:5]]
    parts.append(tag("p", *(tag("span", note) for note in notes), class_="took"))
    if call.curl is not None:
        parts.append(tag("pre", cut(call.curl, room), class_="text", tabindex=0))
    return parts


def _told(origin: Origin, prefix: str) -> Html:
    """Where a value came from, in words."""
    place = f"{origin.argument}: " if "." in origin.argument or "[" in origin.argument else ""
    if origin.call is None:
        return tag("span", f"↩ {place}from the task", class_="origin")
    link = tag("a", f"call {origin.call}", href=f"#{prefix}call{origin.call}")
    where = [" at ", tag("code", cut_short(origin.path, 200))] if origin.path else []
    return tag("span", f"↩ {place}from ", link, *where, class_="origin")


class _Lanes:
    """Which line runs where beside the rows: from each call whose values were used down to the last use."""

    def __init__(self, shown: Sequence[Shown], origins: Mapping[int, Sequence[Origin]]) -> None:
        row_of = {one.call.index: number for number, one in enumerate(shown)}
        uses: dict[int, list[int]] = {}
        for number, one in enumerate(shown):
            for origin in origins.get(one.call.index, ()):
                start = row_of.get(origin.call) if origin.call is not None else None
                if start is not None and start < number and uses.setdefault(start, [start])[-1] != number:
                    uses[start].append(number)
        self._rows: dict[int, list[tuple[int, int, int, int]]] = {}  # row → lane, start, end, colour
        self._used_at: dict[int, set[int]] = {}
        busy = [-1] * _LANES
        for colour, (start, used) in enumerate(sorted(uses.items())):
            lane = next((lane for lane, until in enumerate(busy) if until <= start), None)
            if lane is None:
                continue
            busy[lane] = used[-1]
            for number in range(start, used[-1] + 1):
                self._rows.setdefault(number, []).append((lane, start, used[-1], colour % 6 + 1))
            for number in used[1:]:
                self._used_at.setdefault(number, set()).add(lane)
        self.count = 1 + max((lane for found in self._rows.values() for lane, *_ in found), default=-1)

    def drawing(self, number: int) -> Html:
        """The lines that pass, begin or end at a row; an arrow leads from each to the row that uses its value."""
        width = self.count * _STEP + 12
        if not self.count:
            return Html()
        parts = []
        for lane, start, end, colour in self._rows.get(number, ()):
            x = width - 14 - lane * _STEP
            kind = f"lane lane-{colour}"
            top = _MIDDLE if number == start else 0
            bottom = _MIDDLE if number == end else "100%"
            parts.append(tag("line", x1=x, x2=x, y1=top, y2=bottom, class_=kind))
            if number == start:
                parts.append(tag("circle", cx=x, cy=_MIDDLE, r=3, class_=f"dot {kind}"))
            elif lane in self._used_at.get(number, ()):
                parts.append(tag("line", x1=x, x2=width - 5, y1=_MIDDLE, y2=_MIDDLE, class_=kind))
                tip = f"M{width - 7} {_MIDDLE - 3.5}L{width - 1} {_MIDDLE}L{width - 7} {_MIDDLE + 3.5}Z"
                parts.append(tag("path", d=tip, class_=f"tip {kind}"))
        return tag("svg", *parts, class_="lanes", width=width, aria_hidden="true")
