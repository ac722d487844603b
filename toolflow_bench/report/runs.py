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
"""Letters of runs.

More runs than letters make a leaderboard, which is numbered from the best on.
"""


class InvalidReport(AtcError):
    """A page cannot be built or written as requested. The message says why and the next step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedRun:
    """One file of rows and its figures."""

    letter: str
    """`A` to `L`, or the rank on a leaderboard."""
    colour: int
    """1 to 12."""
    name: str
    file: str
    """The file's name, without its folder."""
    written: str
    """Modification time of the file, `2026-11-22 01:58 UTC`."""
    header: Header
    rows: Sequence[Row]
    summary: Summary

    @property
    def label(self) -> str:
        """Letter and name: `A · qwen chain`."""
        return f"{self.letter} · {self.name}"

    @property
    def mark(self) -> Markup:
        """The run's letter on its colour."""
        return span(self.letter, f"mark run-{self.colour}")

    def per_task(self, total: float | None) -> float | None:
        """Return `total` divided by the number of graded rows."""
        return total / self.summary.graded if total is not None and self.summary.graded else None

    @property
    def tokens(self) -> float | None:
        """Mean number of input and output tokens for each task."""
        return self.per_task(self.summary.input_tokens + self.summary.output_tokens)

    @property
    def cost(self) -> float | None:
        """Mean cost for each task in USD; None if an answer has no price."""
        return self.per_task(self.summary.cost)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedTask:
    """One question and each run's answers: letter → rows, one for each repeat."""

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
    """Return the runs of the files in the given order; for a leaderboard the best first.

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

    The name is the model, then the strategy if strategies differ, then the file if names are still
    equal. Runs without a model, which are baselines, are named after their strategy.
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
    """Return every task of any run, in the order of the first run that has it.

    A task with another question or answer is a different task.
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
