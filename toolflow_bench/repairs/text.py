"""A report of arms for people."""

from __future__ import annotations

from collections.abc import Iterator

from toolflow_bench.repairs.suite import Measured, Report
from toolflow_bench.resampling import Estimate

HEADINGS = (
    "arm",
    "solved",
    "95% interval",
    "repairs",
    "replies",
    "calls",
    "repeated",
    "own reads",
    "tokens in",
    "out",
    "median s",
)

_NOTES = (
    "calls and what is repeated: by the services' log; repeated: sent again although made before, writes in brackets",
    "own reads: sent by the host to know what stands there before a write",
)


def lines(report: Report) -> list[str]:
    """A table of the arms, successes by kind of fault, and each pair's difference."""
    table = [HEADINGS, *map(_cells, report.arms)]
    widths = [max(len(row[column]) for row in table) for column in range(len(HEADINGS))]
    shown = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
    return [*shown, *_NOTES, *_rest(report)]


def _cells(arm: Measured) -> tuple[str, ...]:
    summary, sent = arm.summary, arm.sent
    interval = f"{summary.interval[0]:.0%} to {summary.interval[1]:.0%}" if summary.interval else "-"
    share = f" ({summary.share:.0%})" if summary.share is not None else ""
    return (
        arm.arm.name,
        f"{summary.solved} of {summary.graded}{share}",
        interval,
        f"{summary.repairs:,}",
        f"{summary.model_calls:,}",
        f"{sent.sent:,}",
        f"{sent.repeated:,} ({sent.repeated_writes:,})",
        f"{sent.own_reads:,}",
        f"{summary.input_tokens:,}",
        f"{summary.output_tokens:,}",
        f"{summary.seconds_median:.1f}" if summary.seconds_median is not None else "-",
    )


def _rest(report: Report) -> Iterator[str]:
    for measured in report.arms:
        if measured.by_kind:
            kinds = ", ".join(f"{kind} {solved}/{graded}" for kind, (solved, graded) in measured.by_kind.items())
            yield f"{measured.arm.name}: {kinds}"
    for (first, second), comparison in report.differences.items():
        told = comparison.differences
        success = _points(told["success"]) if "success" in told else "-"
        p = f", p = {comparison.p:.3f}" if comparison.p is not None else ""
        yield (
            f"{second} - {first}: success {success} on {comparison.shared} tasks"
            f" ({second} alone {comparison.only_b}, {first} alone {comparison.only_a}{p}),"
            f" calls {_number(told.get('calls'))}, tokens {_number(told.get('tokens'))}"
        )
    if report.left:
        yield f"not graded: {report.left} outages and crashes; the same command asks these again"


def _points(rate: Estimate) -> str:
    return f"{rate.mean:+.0%} ({rate.low:+.0%} to {rate.high:+.0%})"


def _number(found: Estimate | None) -> str:
    return f"{found.mean:+,.1f} ({found.low:+,.1f} to {found.high:+,.1f})" if found is not None else "-"
