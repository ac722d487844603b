"""Tables in Markdown of what rows of single calls come to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from protocols.jsontypes import Json
from toolflow_bench.resampling import Estimate

if TYPE_CHECKING:
    from toolflow_bench.decoding.figures import ArmFigures, CallReport


def figures_table(report: CallReport) -> list[str]:
    """The figures of each arm."""
    head = ["model", "mode", "docs", "n", "tool errors", report.success, "median s", "prompt", "written", "tries"]
    known = list(dict.fromkeys(key for arm in report.rows for key in arm.settings))
    rows = [
        [
            one.arm.model,
            one.arm.mode,
            one.arm.docs,
            *(str(one.arm.settings.get(key, "")) for key in known),
            str(one.questions),
            _errors(one),
            percent(one.success),
            _number(one.seconds_median, 2),
            _number(one.prompt_tokens, 0),
            _number(one.output_tokens, 1),
            _number(one.tries, 2),
        ]
        for one in report.figures
    ]
    return table([*head[:3], *known, *head[3:]], rows)


def growing_table(report: CallReport) -> list[str]:
    """Where arms differ in a number (of relations): success along it, a row for what else they are."""
    shares: dict[tuple[str, str, str], dict[tuple[str, Json], str]] = {}
    for one in report.figures:
        for setting in one.arm.settings.items():
            shares.setdefault((one.arm.model, one.arm.mode, one.arm.docs), {})[setting] = percent(one.success)
    settings = sorted({setting for found in shares.values() for setting in found}, key=lambda pair: (pair[0], pair[1]))
    if len(settings) < 2:
        return []
    rows = [[*name, *(found.get(setting, "-") for setting in settings)] for name, found in shares.items()]
    return [
        *table(["model", "mode", "docs", *(f"{report.success}, {value} {key}" for key, value in settings)], rows),
        "",
    ]


def differences_table(report: CallReport) -> list[str]:
    """How arms differ on the same questions; empty where none can be compared."""
    rows = [
        [
            d.arm.name,
            d.base.name,
            points(d.error),
            *(points(d.outcome.differences.get("success")),),
            f"{d.outcome.only_b} / {d.outcome.only_a}",
            _signed(d.outcome.differences.get("seconds"), 2),
            _signed(d.prompt_tokens, 0),
        ]
        for d in report.differences
    ]
    head = ["arm", "minus", "tool errors", report.success, "only it / only the other", "seconds", "prompt"]
    return table(head, rows) if rows else []


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table in Markdown."""
    return [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *(f"| {' | '.join(row)} |" for row in rows)]


def percent(rate: Estimate | None) -> str:
    """`12% (5 to 20)`: a rate with its interval."""
    return "-" if rate is None else f"{rate.mean:.1%} ({100 * rate.low:.0f} to {100 * rate.high:.0f})"


def points(rate: Estimate | None) -> str:
    """`-12.0 (-20 to -5)`: a difference of rates, in points."""
    if rate is None:
        return "-"
    return f"{100 * rate.mean:+.1f} ({100 * rate.low:+.0f} to {100 * rate.high:+.0f})"


def _errors(one: ArmFigures) -> str:
    kinds = ", ".join(f"{kind} {count}" for kind, count in one.errors.items())
    return percent(one.error) + (f": {kinds}" if kinds else "") + (f"; refused {one.refused}" if one.refused else "")


def _signed(value: Estimate | None, places: int) -> str:
    if value is None:
        return "-"
    return f"{value.mean:+.{places}f} ({value.low:+.{places}f} to {value.high:+.{places}f})"


def _number(value: float | None, places: int) -> str:
    return "-" if value is None else f"{value:,.{places}f}"
