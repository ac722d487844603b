"""What the kill test shows, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict

from toolflow_bench.kills.suite import Measured, Tally

COLUMNS = ("runs", "killed", "between", "repeated", "lost", "paused", "solved", "wrong")


def lines(measured: Measured) -> Iterator[str]:
    """Tables by moment and by kind of write, what went wrong, and the verdict."""
    yield from _table("killed when", measured.by("group"))
    yield ""
    yield from _table("outcome told by", measured.by("kind"))
    yield ""
    for one in measured.played:
        if one.verdict.wrong is not None:
            yield f"wrong    run {one.number} ({one.group}, {one.kind}) {one.task}: {one.verdict.wrong}"
            yield from (f"         {line}" for line in one.detail.strip().splitlines()[-1:])
    total = measured.total
    seconds = sorted(one.seconds for one in measured.played)
    yield f"seconds  median {seconds[len(seconds) // 2]:.2f}, longest {seconds[-1]:.2f}, faults met {_faults(measured)}"
    # The one-sided 95% bound on a share of which none was seen.
    bound = f"; with 95% confidence below {1 - 0.05 ** (1 / total.runs):.1%} of runs" if not total.wrong else ""
    yield f"total    {total.between} of {total.runs} killed between intent and outcome; {total.wrong} wrong{bound}"


def _table(title: str, rows: Mapping[str, Tally]) -> Iterator[str]:
    width = max(len(title), *map(len, rows))
    yield "  ".join([title.ljust(width), *(name.rjust(8) for name in COLUMNS)])
    for name, counts in rows.items():
        shown = asdict(counts)
        yield "  ".join([name.ljust(width), *(f"{shown[column]:>8,}" for column in COLUMNS)])


def _faults(measured: Measured) -> str:
    met = sum(one.faults for one in measured.played)
    return f"{met:,} in {sum(one.faults > 0 for one in measured.played):,} runs"
