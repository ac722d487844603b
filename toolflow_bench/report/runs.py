"""The runs that a page shows, each with a letter and a name that tells it from the others, and the tasks they share."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from atc.pages.markup import Html, span
from protocols.errors import AtcError
from protocols.jsontypes import Json
from toolflow_bench.metrics import Row, Summary, summarize
from toolflow_bench.rows import Header, read_rows

LETTERS = "ABCDEFGHIJKL"
"""So many runs are compared task by task; more are a leaderboard, numbered from the best on."""

_LONGEST_MODEL = 60  # letters
_FIRST = ("strategy", "split", "temperature", "samples", "max_repairs", "max_tools", "sandbox", "seed")
"""Settings by which runs of one model are told apart, the most telling first; the others follow in their own order."""


class InvalidReport(AtcError):
    """A page cannot be made or written as asked. Says why and the next step."""

    exit_code = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One file of rows and its figures."""

    letter: str
    """`A` to `L`, or the place on a leaderboard."""
    colour: int
    """1 to 12."""
    name: str
    file: str
    """The file's name, without its folder."""
    written: str
    """When the file was last written, `2026-11-22 01:58 UTC`."""
    header: Header
    rows: Sequence[Row]
    summary: Summary

    @property
    def label(self) -> str:
        """`A · qwen chain`."""
        return f"{self.letter} · {self.name}"

    @property
    def mark(self) -> Html:
        """The run's letter on its colour."""
        return span(self.letter, f"mark run-{self.colour}")

    def a_task(self, total: float | None) -> float | None:
        """`total` of the run as a mean of its graded rows."""
        return total / self.summary.graded if total is not None and self.summary.graded else None

    @property
    def tokens(self) -> float | None:
        """Tokens read and written a task."""
        return self.a_task(self.summary.input_tokens + self.summary.output_tokens)

    @property
    def cost(self) -> float | None:
        """US dollars a task; None where an answer has no price."""
        return self.a_task(self.summary.cost)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One question and how each run answered it: letter → rows, one a repeat."""

    id: str
    question: str
    expected: Any
    needs: int
    split: str
    services: tuple[str, ...]
    gold: tuple[str, ...]
    rows: dict[str, list[Row]] = field(default_factory=dict)


def is_leaderboard(runs: Sequence[Run]) -> bool:
    """Whether these are too many to be compared task by task."""
    return len(runs) > len(LETTERS)


def load_runs(paths: Sequence[Path]) -> list[Run]:
    """The runs of the files, in the order given; those of a leaderboard by success, the best first.

    Raises:
        InvalidRunFile: one is no file of rows, or of another format.
        InvalidReport: one is given twice.
    """
    twice = [path for path, times in Counter(path.resolve() for path in paths).items() if times > 1]
    if twice:
        raise InvalidReport(f"{str(twice[0])!r} is given twice; name each run once.")
    read = [read_rows(path) for path in paths]
    names = distinct_names([header for header, _ in read], [path.stem for path in paths])
    runs = [
        Run(
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
    runs.sort(key=lambda run: -1.0 if run.summary.share is None else run.summary.share, reverse=True)
    return [replace(run, letter=str(place), colour=1 + (place - 1) % 12) for place, run in enumerate(runs, start=1)]


def distinct_names(headers: Sequence[Header], stems: Sequence[str]) -> list[str]:
    """A name for each run: its model, its strategy where those differ, and what else tells runs of one model apart."""
    named = [asdict(header) for header in headers]
    named = [{**one, **one.pop("settings")} for one in named]
    names = [_base(settings) for settings in named]
    for key in dict.fromkeys([*_FIRST, *(key for settings in named for key in settings)]):
        before = list(names)
        for index, settings in enumerate(named):
            others = zip(before, named, strict=True)
            like = [one.get(key) for name, one in others if name == before[index] or key == "strategy"]
            value = settings.get(key)
            if value is None or key == "model" or _is_base(settings, key) or all(one == like[0] for one in like):
                continue
            names[index] += (
                f" {_plain(value)}" if key in ("strategy", "split", "sandbox") else f" {key}={_plain(value)}"
            )
    return [f"{name} ({stem})" if names.count(name) > 1 else name for name, stem in zip(names, stems, strict=True)]


def _base(settings: Mapping[str, Json]) -> str:
    name = _plain(settings.get("strategy") if _is_base(settings, "strategy") else settings["model"])
    return name if len(name) <= _LONGEST_MODEL else f"{name[: _LONGEST_MODEL - 1]}…"


def _is_base(settings: Mapping[str, Json], key: str) -> bool:
    """Baselines have no model; what they do is their name."""
    return key == "strategy" and settings["model"] in ("", "none")


def _plain(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)


def tasks(runs: Sequence[Run]) -> list[Task]:
    """Every task of any run, in the order of the first that has it. One with another question or answer is another."""
    found: dict[tuple[str, str, str], Task] = {}
    for run in runs:
        for row in run.rows:
            key = (row.id, row.question, json.dumps(row.expected, sort_keys=True, default=repr))
            if key not in found:
                about = {name: getattr(row, name) for name in ("id", "question", "expected", "needs", "split")}
                found[key] = Task(**about, services=tuple(row.services), gold=tuple(row.gold))
            found[key].rows.setdefault(run.letter, []).append(row)
    return list(found.values())
