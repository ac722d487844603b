"""What the suites of questions share on the command line: options, the file of rows, progress, and the figures."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import Any, Self

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from atc import __version__
from atc.cli.options import json_option, several
from atc.cli.output import escape_controls
from atc.config import Config, public
from atc.view import stderr_console
from toolflow_bench.metrics import Row, Summary
from toolflow_bench.resampling import Estimate
from toolflow_bench.rows import Header, InvalidRunFile, read_rows, same_header
from toolflow_bench.runner import Item, digest
from toolflow_bench.task import Question

_SETTINGS = (
    *("strategy", "sandbox", "max_tools", "prompt_tokens", "samples", "max_repairs", "max_calls", "max_tokens"),
    *("max_model_calls", "repair", "decoding", "docs", "temperature"),
)
"""Of the configuration: what changes results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a suite is run, whatever it asks: the options of `run_options`."""

    limit: int | None
    jobs: int
    seed: int
    timeout: float
    repeats: int
    out: Path | None
    restart: bool
    as_json: bool


_ONE = click.IntRange(1)
run_options = several(
    click.option("--limit", type=_ONE, metavar="N", help="The first N questions only."),
    click.option(
        "--jobs", type=click.IntRange(1, 64), default=1, show_default=True, metavar="N", help="Asked at once."
    ),
    click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="What random choices start from."),
    click.option(
        "--timeout",
        type=click.FloatRange(0, min_open=True),
        default=180.0,
        show_default=True,
        metavar="S",
        help="Seconds for one question.",
    ),
    click.option(
        "--repeats",
        type=click.IntRange(1, 100),
        default=1,
        show_default=True,
        metavar="K",
        help="Ask each question K times, with other seeds for the model.",
    ),
    click.option(
        "--out", type=click.Path(path_type=Path), metavar="FILE", help="File of rows, continued if it is there."
    ),
    click.option("--restart", is_flag=True, help="Empty --out first."),
    json_option,
)
"""The options of every suite of questions; `RunOptions` takes them."""


def make_header(
    suite: str, questions: Sequence[Question], config: Config, *, model: str, options: RunOptions, **settings: Any
) -> Header:
    """What must be the same for a run to go on: `questions` are all that could be asked, `settings` the suite's own."""
    every: Mapping[str, Any] = public(config)
    kept = {key: every[key] for key in _SETTINGS}
    return Header(
        suite=suite,
        model=model,
        seed=options.seed,
        data=digest(questions),
        version=__version__,
        settings={**kept, "timeout": options.timeout, **settings},
    )


def own_file(config: Config, header: Header, wanted: Sequence[Item], *, repeats: int = 1, named: str = "") -> Path:
    """The newest unfinished file of the same run in the state folder, else a new one, with `named` in its name."""
    folder = config.state_dir / "bench"
    keys = {(item.question.id, repeat) for item in wanted for repeat in range(repeats)}
    for path in sorted(folder.glob(f"{header.suite}-*.jsonl"), reverse=True):
        try:
            found, rows = read_rows(path)
        except InvalidRunFile:
            continue
        if same_header(found, header) and keys - {row.key for row in rows if row.graded}:
            return path
    stem = "-".join(filter(None, (header.suite, time.strftime("%Y%m%d-%H%M%S", time.gmtime()), named)))
    names = (f"{stem}{suffix}.jsonl" for suffix in chain([""], (f"-{number}" for number in count(2))))
    return next(folder / name for name in names if not (folder / name).exists())


def lines(summary: Summary) -> list[str]:
    """The figures for people."""
    left = f"not graded: {summary.outages} outages, {summary.crashes} crashes; the same command asks these again"
    if summary.share is None or summary.interval is None:
        return ["no question was graded", left]
    low, high = summary.interval
    waits = f"{summary.seconds_total:.0f} in all, {summary.model_seconds_total:.0f} waiting for the model"
    work = f"{summary.calls:,} calls, {summary.repairs:,} repairs, {summary.model_calls:,} replies"
    shown = {
        "solved": f"{summary.solved} of {summary.graded} ({summary.share:.0%}, 95% interval {low:.0%} to {high:.0%})",
        "by calls": _shares(summary.by_calls),
        "by depth": summary.by_difficulty and f"{_shares(summary.by_difficulty)} (depth times distinct tools)",
        "pass^k": ", ".join(f"{k}: {_percent(one)}" for k, one in summary.pass_k.items()),
        **_of_paths(summary),
        "seconds": f"median {summary.seconds_median:.1f}, longest {summary.seconds_max:.1f}, {waits}",
        "took": f"{work}, {summary.input_tokens:,} tokens in, {summary.output_tokens:,} out",
    }
    told = [f"{name:<8} {line}" for name, line in shown.items() if line]
    return [*told, left] if summary.ungraded else told


def _of_paths(summary: Summary) -> dict[str, str]:
    """What only suites with gold paths have."""
    if summary.path is None or summary.precision is None or summary.cp is None:
        return {}
    named = {"Path": summary.path, "Precision": summary.precision, "CP": summary.cp}
    return {
        "by tasks": _shares({**summary.by_split, **summary.by_service}),
        "paths": ", ".join(f"{name} {_percent(rate)}" for name, rate in named.items()),
        "failures": ", ".join(f"{name} {number}" for name, number in summary.failures.items()) or "none",
        "writes": f"{summary.repeated_writes:,} repeated, {summary.orphaned_writes:,} orphaned",
        "cost": "unknown: no price for this model; give --prices" if summary.cost is None else f"${summary.cost:.4f}",
    }


def _percent(rate: Estimate) -> str:
    return f"{rate.mean:.0%} ({rate.low:.0%} to {rate.high:.0%})"


def _shares(shares: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}: {share.solved}/{share.graded}" for name, share in shares.items())


class Watch:
    """Shows each row as it comes: a bar with an estimate on a terminal, a line a question otherwise."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=stderr_console(), disable=not sys.stderr.isatty())
        self._task = self._bar.add_task("asking", total=None)
        self._right = 0
        self.arm = ""
        """Whose rows come, where several take turns."""

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def __call__(self, row: Row, done: int, total: int) -> None:
        """Show a row; `done` of `total` are."""
        self._right += row.correct
        verdict = "right" if row.correct else "wrong" if row.graded else row.status
        why = row.error or row.reason
        named = f"{self.arm:<8} " if self.arm else ""
        line = f"{done:>3}/{total}  {named}{verdict:<6} {row.seconds:6.1f} s  {row.calls:>3} calls  {row.id}: {why}"
        self._bar.console.print(escape_controls(line), soft_wrap=True)
        self._bar.update(self._task, completed=done, total=total, description=f"{self._right} right")
