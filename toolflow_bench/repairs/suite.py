"""Runs the arms of each task one after another, keeps a file of rows for each arm, and compares them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from toolflow_bench.compare import Comparison, compare
from toolflow_bench.metrics import Row, Summary, summarize
from toolflow_bench.prices import Price
from toolflow_bench.repairs import counts
from toolflow_bench.repairs.arms import Arm, Bench
from toolflow_bench.repairs.log import Sent
from toolflow_bench.rows import Header, RowFile
from toolflow_bench.runner import Answered, Item, ask_item

OnRow = Callable[[Arm, Row, int, int], None]
"""Told of each new row, with how many of how many are done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmFile:
    """An arm, and where its rows go."""

    arm: Arm
    header: Header
    path: Path


_Opened = tuple[ArmFile, RowFile]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What an arm came to. `sent` sums its answers' counts, over those that were graded."""

    arm: Arm
    path: Path
    rows: tuple[Row, ...]
    summary: Summary
    sent: Sent
    by_kind: Mapping[str, tuple[int, int]]
    """Solved and graded by the kind of the first program's fault; empty where that is the model's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The arms side by side; `differences` are of the second arm minus the first, on the tasks that both have."""

    arms: tuple[Measured, ...]
    differences: Mapping[tuple[str, str], Comparison]

    @property
    def left(self) -> int:
        """Answers that our side failed at, which the same command asks again."""
        return sum(measured.summary.outages + measured.summary.crashes for measured in self.arms)

    def as_json(self) -> dict[str, Any]:
        """The report as plain JSON."""
        return {
            "arms": {
                measured.arm.name: {
                    "rows": str(measured.path),
                    **measured.summary.as_json(),
                    "by_kind": {
                        kind: {"solved": solved, "graded": graded}
                        for kind, (solved, graded) in measured.by_kind.items()
                    },
                    "sent": measured.sent.sent,
                    "repeated_calls": measured.sent.repeated,
                    "repeated_writes": measured.sent.repeated_writes,
                    "own_reads": measured.sent.own_reads,
                }
                for measured in self.arms
            },
            "differences": {
                f"{second} - {first}": comparison.as_json() for (first, second), comparison in self.differences.items()
            },
        }


def run_arms(
    items: Sequence[Item],
    bench: Bench,
    files: Sequence[ArmFile],
    *,
    kinds: Mapping[str, str] | None = None,
    restart: bool = False,
    seed: int = 0,
    timeout_seconds: float | None = None,
    price: Price | None = None,
    on_row: OnRow | None = None,
) -> Report:
    """Ask every item in every arm, item by item, and compare. What the files hold already is not asked again.

    Each item begins with another arm: the first one waits until a local model has read the prompt that all share, which
    counts against its time.

    `kinds` names the kind of each item's first fault, by the item's id.

    Raises:
        InvalidRunFile: a file holds another run, or cannot be written.
        KeyboardInterrupt: as it comes; what was answered is in the files.
    """
    sent: dict[str, dict[str, Sent]] = {}
    with ExitStack() as stack:
        opened: list[_Opened] = []
        for file in files:
            opened.append((file, stack.enter_context(RowFile(file.path, file.header, restart=restart))))
            beside = counts.counts_beside(file.path)
            if restart:
                beside.unlink(missing_ok=True)
            sent[file.arm.name] = counts.load(beside)
        turns = [(item, one) for number, item in enumerate(items) for one in _rotated(opened, number)]
        todo = [(item, one) for item, one in turns if not _has(one[1], sent[one[0].arm.name], item)]
        done, total = len(items) * len(files) - len(todo), len(items) * len(files)
        for item, (file, rows) in todo:
            row, counted = _asked(item, bench, file.arm, seed=seed, timeout_seconds=timeout_seconds, price=price)
            sent[file.arm.name][item.question.id] = counted
            counts.append(counts.counts_beside(file.path), item.question.id, counted)
            rows.append(row)
            done += 1
            if on_row is not None:
                on_row(file.arm, row, done, total)
        found = [(file, [rows.rows[item.question.id, 0] for item in items]) for file, rows in opened]
    measured = [_measured(file, rows, sent[file.arm.name], kinds or {}, seed=seed) for file, rows in found]
    pairs = combinations(measured, 2)
    differences = {(a.arm.name, b.arm.name): compare(a.rows, b.rows, seed=seed) for a, b in pairs}
    return Report(arms=tuple(measured), differences=differences)


def _rotated(files: Sequence[_Opened], number: int) -> list[_Opened]:
    first = number % len(files)
    return [*files[first:], *files[:first]]


def _has(file: RowFile, sent: Mapping[str, Sent], item: Item) -> bool:
    row = file.rows.get((item.question.id, 0))
    return row is not None and row.graded and item.question.id in sent


def _asked(
    item: Item, bench: Bench, arm: Arm, *, seed: int, timeout_seconds: float | None, price: Price | None
) -> tuple[Row, Sent]:
    counted = Sent()

    def work(item: Item, /, *, seed: int, repeat: int, max_seconds: float | None) -> Answered:  # noqa: ARG001 - the shape of a worker
        nonlocal counted
        answered = bench.answer(arm, item, seed=seed, max_seconds=max_seconds)
        counted = bench.sent
        return answered

    row = ask_item(item, work, seed=seed, repeat=0, timeout_seconds=timeout_seconds, price=price)
    return row, counted


def _measured(
    file: ArmFile, rows: Sequence[Row], sent: Mapping[str, Sent], kinds: Mapping[str, str], *, seed: int
) -> Measured:
    graded = [row for row in rows if row.graded]
    own = [sent[row.id] for row in graded]
    by_kind: dict[str, tuple[int, int]] = {}
    for row in graded:
        if row.id in kinds:
            solved, asked = by_kind.get(kinds[row.id], (0, 0))
            by_kind[kinds[row.id]] = solved + row.correct, asked + 1
    return Measured(
        arm=file.arm,
        path=file.path,
        rows=tuple(rows),
        summary=summarize(rows, seed=seed),
        sent=Sent(**{name: sum(getattr(one, name) for one in own) for name in asdict(Sent())}),
        by_kind=dict(sorted(by_kind.items())),
    )
