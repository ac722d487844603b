"""The figures of the suite `blame`, by kind of fault. What each of them is counted over is said here once.

`faults`: all that were put somewhere. `none`: those that changed nothing. `wrong`: the answer, or what the writes left,
is wrong, and nothing at all says so. `doubted`: `atc.doubt` says so, but no call failed; `doubted_tool` are those in
which the doubt names the tool that is to blame. `shown`: the check found something, the run failed, or it ended without
an answer. Only of these does attribution speak: `call` and `right` are counted over `shown`, `right` being those with
the right call *and* the right path; of a finding, which comes before any call, the right tool, path and line.
`right_or_doubted` sets `right` and `doubted_tool` against `shown` and `doubted`. A silent fault (`none`, `wrong`) is in
no share.

`run_…` is the same where nothing is checked and every program runs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from toolflow_bench.blame.broken import BROKEN_KINDS
from toolflow_bench.blame.row import Row, Told
from toolflow_bench.mutants import MUTANT_KINDS

KINDS: tuple[str, ...] = (*MUTANT_KINDS, *BROKEN_KINDS)


class Interval(NamedTuple):
    """A share's 95% interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Counts of faults, as the module's docstring says. `tied` are those in which facts left several calls."""

    faults: int
    none: int
    wrong: int
    doubted: int
    doubted_tool: int
    shown: int
    call: int
    right: int
    run_shown: int
    run_call: int
    run_right: int
    tied: int
    tied_among: int
    """In how many of `tied` the right call is one of those that are left."""
    said: dict[str, int]
    """How often each kind of fault was said."""

    @property
    def share(self) -> float | None:
        """Right calls and paths among the faults that show themselves."""
        return self.right / self.shown if self.shown else None

    @property
    def run_share(self) -> float | None:
        """The same where nothing is checked."""
        return self.run_right / self.run_shown if self.run_shown else None

    @property
    def right_or_doubted(self) -> float | None:
        """The same with doubts, which count as right where they name the tool."""
        total = self.shown + self.doubted
        return (self.right + self.doubted_tool) / total if total else None

    def as_json(self) -> dict[str, Any]:
        """As plain JSON, shares with their intervals."""
        return {
            **asdict(self),
            "share": self.share,
            "interval": wilson(self.right, self.shown),
            "run_share": self.run_share,
            "run_interval": wilson(self.run_right, self.run_shown),
            "right_or_doubted": self.right_or_doubted,
        }


def figures(rows: Sequence[Row]) -> Figures:
    """The figures of these rows."""
    shown = Counter(row.shown for row in rows)
    told = [row.told for row in rows if row.told is not None]
    ran = [row.run for row in rows if row.run is not None]
    tied = [one for one in ran if one.verdict.tied]
    return Figures(
        faults=len(rows),
        none=shown["none"],
        wrong=shown["wrong"],
        doubted=shown["doubted"],
        doubted_tool=sum(row.doubt_names_tool for row in rows if row.shown == "doubted"),
        shown=len(told),
        call=sum(one.verdict.call for one in told),
        right=sum(map(_right, told)),
        run_shown=len(ran),
        run_call=sum(one.verdict.call for one in ran),
        run_right=sum(one.verdict.right for one in ran),
        tied=len(tied),
        tied_among=sum(one.verdict.among for one in tied),
        said=dict(Counter(one.fault.kind for one in told).most_common()),
    )


def by_kind(rows: Sequence[Row]) -> dict[str, Figures]:
    """The figures of each kind, in the order of `KINDS`."""
    kinds = sorted(
        {row.kind for row in rows}, key=lambda kind: (KINDS.index(kind) if kind in KINDS else len(KINDS), kind)
    )
    return {kind: figures([row for row in rows if row.kind == kind]) for kind in kinds}


def wilson(hits: int, count: int) -> Interval | None:
    """Wilson's 95% interval of `hits` of `count`; None of nothing. It takes the faults to be independent."""
    if count == 0:
        return None
    z, share = 1.96, hits / count
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count)) / (1 + z * z / count)
    return Interval(max(0.0, middle - half), min(1.0, middle + half))


def lines(found: dict[str, Figures], whole: Figures) -> list[str]:
    """The table for people."""
    head = f"{'kind':<16}{'faults':>7}{'none':>6}{'wrong':>7}{'doubted':>9}{'shown':>7}{'call':>6}{'right':>7}  share"
    return [
        head,
        *(_line(kind, one) for kind, one in found.items()),
        _line("all", whole),
        f"without the check: {whole.run_right} of {whole.run_shown} ({_share(whole.run_right, whole.run_shown)})",
        f"with doubts: {whole.right + whole.doubted_tool} of {whole.shown + whole.doubted}",
        f"ties: {whole.tied}, the right call among those left in {whole.tied_among}",
    ]


def _line(kind: str, one: Figures) -> str:
    counts = f"{one.faults:>7}{one.none:>6}{one.wrong:>7}{one.doubted:>9}{one.shown:>7}{one.call:>6}{one.right:>7}"
    return f"{kind:<16}{counts}  {_share(one.right, one.shown)}"


def _share(hits: int, count: int) -> str:
    interval = wilson(hits, count)
    return "-" if interval is None else f"{hits / count:.1%} ({interval.low:.0%} to {interval.high:.0%})"


def _right(told: Told) -> bool:
    return told.verdict.right and (told.verdict.line or told.fault.call is not None)
