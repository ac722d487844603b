"""The runs that a page shows, each with a letter and a name that tells it from the others, and the tasks they share."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from protocols.errors import AtcError
from protocols.jsontypes import Json
from toolflow_bench.metrics import Row, Summary, summarize
from toolflow_bench.rows import Header, read_rows

MOST_RUNS = 12
"""More would be neither told apart nor read."""

_LONGEST_MODEL = 60  # letters
_LETTERS = "ABCDEFGHIJKL"
_FIRST = ("strategy", "split", "temperature", "samples", "max_repairs", "max_tools", "sandbox", "seed")
"""Settings by which runs of one model are told apart, the most telling first; the others follow in their own order."""


class InvalidReport(AtcError):
    """A page cannot be made or written as asked. Says why and the next step."""

    exit_code = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One file of rows and its figures."""

    letter: str
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
    def number(self) -> int:
        """1-based, for colours."""
        return _LETTERS.index(self.letter) + 1

    def a_task(self, total: float) -> float | None:
        """`total` of the run as a mean of its graded rows."""
        return total / self.summary.graded if self.summary.graded else None

    @property
    def tokens(self) -> float | None:
        """Tokens read and written a task."""
        return self.a_task(self.summary.input_tokens + self.summary.output_tokens)

    @property
    def cost(self) -> float | None:
        """US dollars a task; None where an answer has no price."""
        return None if self.summary.cost is None else self.a_task(self.summary.cost)


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


def load_runs(paths: Sequence[Path]) -> list[Run]:
    """The runs of the files, in the order given.

    Raises:
        InvalidRunFile: one is no file of rows, or of another format.
        InvalidReport: there are too many, or one is given twice.
    """
    if len(paths) > MOST_RUNS:
        raise InvalidReport(f"a report shows at most {MOST_RUNS} runs, {len(paths)} are given; make several.")
    twice = [path for path, times in Counter(path.resolve() for path in paths).items() if times > 1]
    if twice:
        raise InvalidReport(f"{str(twice[0])!r} is given twice; name each run once.")
    read = [read_rows(path) for path in paths]
    names = distinct_names([header for header, _ in read], [path.stem for path in paths])
    return [
        Run(
            letter=letter,
            name=name,
            file=path.name,
            written=time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(path.stat().st_mtime)),
            header=header,
            rows=rows,
            summary=summarize(rows),
        )
        for letter, name, path, (header, rows) in zip(_LETTERS, names, paths, read, strict=False)
    ]


def distinct_names(headers: Sequence[Header], stems: Sequence[str]) -> list[str]:
    """A name for each run: its model, its strategy where those differ, and what else tells runs of one model apart."""
    named = [_settings(header) for header in headers]
    names = [_base(header, settings) for header, settings in zip(headers, named, strict=True)]
    for key in dict.fromkeys([*_FIRST, *(key for settings in named for key in settings)]):
        if key == "model":
            continue
        before = list(names)
        for index, name in enumerate(before):
            others = zip(before, named, strict=True)
            like = [settings.get(key) for other, settings in others if other == name or key == "strategy"]
            differs = any(value != like[0] for value in like)
            if differs and named[index].get(key) is not None and not _is_base(headers[index], key):
                value = _plain(named[index][key])
                names[index] += f" {value}" if key in ("strategy", "split", "sandbox") else f" {key}={value}"
    return [f"{name} ({stem})" if names.count(name) > 1 else name for name, stem in zip(names, stems, strict=True)]


def _base(header: Header, settings: Mapping[str, Json]) -> str:
    name = _plain(settings.get("strategy")) if _is_base(header, "strategy") else header.model
    return name if len(name) <= _LONGEST_MODEL else f"{name[: _LONGEST_MODEL - 1]}…"


def _is_base(header: Header, key: str) -> bool:
    """Baselines have no model; what they do is their name."""
    return key == "strategy" and header.model in ("", "none")


def _settings(header: Header) -> dict[str, Json]:
    plain = asdict(header)
    settings: dict[str, Json] = plain.pop("settings")
    return plain | dict(settings)


def _plain(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)


def tasks(runs: Sequence[Run]) -> list[Task]:
    """Every task of any run, in the order of the first that has it. One with another question or answer is another."""
    found: dict[tuple[str, str, str], Task] = {}
    for run in runs:
        for row in run.rows:
            key = (row.id, row.question, json.dumps(row.expected, sort_keys=True, default=repr))
            if key not in found:
                found[key] = Task(
                    id=row.id,
                    question=row.question,
                    expected=row.expected,
                    needs=row.needs,
                    split=row.split,
                    services=tuple(row.services),
                    gold=tuple(row.gold),
                )
            found[key].rows.setdefault(run.letter, []).append(row)
    return list(found.values())
