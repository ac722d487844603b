"""The runs of a report, each with a letter and a distinct name, and the tasks they answered."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from atc.core.pages.markup import Markup, span
from protocols.errors import AtcError
from toolflow_bench.metrics import Row, Summary, summarize
from toolflow_bench.rows import Header, read_rows

LETTERS = "ABCDEFGHIJKL"
"""The letters that identify runs.

If there are more runs than letters, the report is a leaderboard, and the runs have ranks instead.
"""


class InvalidReport(AtcError):
    """A page cannot be built or written as requested. The message says why and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedRun:
    """A benchmark run in the report: one file of results (rows), and the metrics of these."""

    letter: str
    """`A` to `L`, or the rank (`1`, `2`, …) on a leaderboard."""
    colour: int
    """Number of the run's colour, from 1 to 12."""
    name: str
    file: str
    """The file's name, without its folder."""
    written: str
    """Modification time of the file, such as `2026-11-22 01:58 UTC`."""
    header: Header
    rows: Sequence[Row]
    summary: Summary

    @property
    def label(self) -> str:
        """The run's letter and name, such as `A · qwen chain`."""
        return f"{self.letter} · {self.name}"

    @property
    def mark(self) -> Markup:
        """HTML that shows the run's letter on its colour."""
        return span(self.letter, f"mark run-{self.colour}")

    def per_task(self, total: float | None) -> float | None:
        """Return a total of the run divided by the number of its graded rows (results).

        Return None if `total` is None or no row was graded.
        """
        return total / self.summary.graded if total is not None and self.summary.graded else None

    @property
    def tokens(self) -> float | None:
        """Mean number of input and output tokens for each task, or None if no row was graded."""
        return self.per_task(self.summary.input_tokens + self.summary.output_tokens)

    @property
    def cost(self) -> float | None:
        """Mean cost of a task in USD, or None if the price of an answer is unknown."""
        return self.per_task(self.summary.cost)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedTask:
    """One question with the answers of all runs.

    `rows` maps the letter of each run to its rows, one for each repeat.
    """

    id: str
    question: str
    expected: Any
    needs: int
    split: str
    services: tuple[str, ...]
    gold: tuple[str, ...]
    rows: dict[str, list[Row]] = field(default_factory=dict)


def is_leaderboard(runs: Sequence[ReportedRun]) -> bool:
    """Return True if there are too many runs to compare them task by task."""
    return len(runs) > len(LETTERS)


def load_runs(paths: Sequence[Path]) -> list[ReportedRun]:
    """Return the benchmark runs in the given files, in the given order.

    On a leaderboard (a report of many runs), the best comes first.

    Raises:
        InvalidRunFile: a file is not a file of rows, or has another format.
        InvalidReport: a file is given twice.
    """
    counts = Counter(path.resolve() for path in paths)
    twice = [path for path, times in counts.items() if times > 1]
    if twice:
        raise InvalidReport(f"{str(twice[0])!r} is given twice; name each run once.")
    read = [read_rows(path) for path in paths]
    names = _names([header for header, _ in read], [path.stem for path in paths])
    runs = [
        ReportedRun(
            letter=LETTERS[number % len(LETTERS)],
            colour=1 + number % len(LETTERS),
            name=name,
            file=path.name,
            written=time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(path.stat().st_mtime)),
            header=header,
            rows=rows,
            summary=summarize(rows),
        )
        for number, (name, path, (header, rows)) in enumerate(zip(names, paths, read, strict=True))
    ]
    if not is_leaderboard(runs):
        return runs
    runs.sort(
        key=lambda run: -1.0 if run.summary.share is None else run.summary.share, reverse=True
    )
    return [
        replace(run, letter=str(place), colour=1 + (place - 1) % 12)
        for place, run in enumerate(runs, start=1)
    ]


def _names(headers: Sequence[Header], stems: Sequence[str]) -> list[str]:
    """Return a distinct name for each run.

    The name is the model, followed by the strategy if runs differ in it, and by the file name if
    names would be equal otherwise. Runs without a model, which are baselines, are named after their
    strategy.
    """
    strategies = [str(header.settings.get("strategy", "")) for header in headers]
    names = []
    for header, strategy in zip(headers, strategies, strict=True):
        if header.model in ("", "none"):
            names.append(strategy)
        elif len(set(strategies)) > 1:
            names.append(f"{header.model} {strategy}")
        else:
            names.append(header.model)
    return [
        f"{name} ({stem})" if names.count(name) > 1 else name
        for name, stem in zip(names, stems, strict=True)
    ]


def tasks(runs: Sequence[ReportedRun]) -> list[ReportedTask]:
    """Return every task that a run has answered, in the order of the first run that has the task.

    A task whose question or expected answer differs is a different task.
    """
    found: dict[tuple[str, str, str], ReportedTask] = {}
    for run in runs:
        for row in run.rows:
            key = (row.id, row.question, json.dumps(row.expected, sort_keys=True, default=repr))
            if key not in found:
                about = {
                    name: getattr(row, name)
                    for name in ("id", "question", "expected", "needs", "split")
                }
                found[key] = ReportedTask(
                    **about, services=tuple(row.services), gold=tuple(row.gold)
                )
            found[key].rows.setdefault(run.letter, []).append(row)
    return list(found.values())
