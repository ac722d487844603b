"""The frame of the suites of decoding: arms, their files of rows, and the order in which they are asked.

An arm is one way of decoding with one model. Its rows are a file's, as of every benchmark (`toolflow_bench.rows`); the
files of a run stand in one folder, and the same command goes on where a run was stopped.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol

from protocols.ask import Ask
from protocols.errors import AtcError
from protocols.jsontypes import Json
from toolflow_bench.metrics import Row
from toolflow_bench.rows import Header, RowFile

BLOCK = 10
"""Questions that an arm is asked before the next arm's turn: what else the machine does meets all arms alike, and no
arm finds the end of its prompt in the cache because another asked the same question just before."""
MOST_OUTAGES = 5
"""In a row: after so many an arm is asked no further."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the command line says. Empty `models`, `modes` and `docs` stand for the suite's own."""

    suite: str
    folder: Path
    """Of the files of rows."""
    models: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    docs: tuple[str, ...] = ()
    data: Path | None = None
    sample: int | None = None
    seed: int = 0
    relations: tuple[int, ...] = ()
    restart: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One way of decoding with one model."""

    suite: str
    model: str
    mode: str
    docs: str = "full"
    settings: Mapping[str, Json] = field(default_factory=dict, hash=False)
    """What else tells it from other arms, e.g. `{"relations": 30}`."""

    @property
    def name(self) -> str:
        """As tables have it: `local calls names`."""
        return " ".join([self.model, self.mode, self.docs, *self._said])

    @property
    def file(self) -> str:
        """The name of its file of rows."""
        parts = [self.suite, self.model, self.mode, self.docs, *self._said]
        return "-".join(re.sub(r"[^\w.]+", "_", part) for part in parts) + ".jsonl"

    @property
    def _said(self) -> list[str]:
        return [f"{key}={value}" for key, value in self.settings.items()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One question; `gold` are the tools that it takes, in order."""

    id: str
    question: str
    expected: Json = None
    gold: tuple[str, ...] = ()


class Report(Protocol):
    """What a suite measured."""

    @property
    def left(self) -> int:
        """Rows that failed on our side; the same command asks them again."""

    def as_json(self) -> dict[str, Any]:
        """For machines."""

    def lines(self) -> list[str]:
        """For people: tables in Markdown."""


Watch = Callable[[Arm, Row | None, int, int], None]
"""Told of each new row (None: of a step that has no row), with how many of how many the run has."""
OpenModel = Callable[[str], AbstractContextManager[Ask]]
"""Opens a model by the name that `--model` gives; one is open at a time."""
Say = Callable[[str], None]


class Answer(Protocol):
    """Asks one question in one arm."""

    def __call__(self, arm: Arm, case: Any, beside: Mapping[str, Row], /) -> Row:
        """The row. `beside` has the same question's rows so far in the arms that differ in nothing but their mode.

        Raises:
            AtcError: an outage, which is no verdict.
        """


def label(model: str) -> str:
    """What tables and files call a model: its name, of a file without its folder."""
    return Path(model).name if model.endswith(".gguf") else model


def header(arm: Arm, *, data: str, seed: int, asked: str = "") -> Header:
    """What the rows of an arm have in common.

    `data` is a digest of all that could be asked, `asked` one of how: prompts and limits.
    """
    from atc import __version__

    settings: dict[str, Json] = {"mode": arm.mode, "docs": arm.docs, "asked": asked, **arm.settings}
    return Header(
        suite=f"decoding-{arm.suite}", model=arm.model, seed=seed, data=data, version=__version__, settings=settings
    )


def text_digest(value: Json) -> str:
    """A short text that changes when `value` does."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=repr).encode()).hexdigest()[:16]


def blank(case: Case, *, seed: int) -> Row:
    """A row of which only the question is known."""
    return Row(
        id=case.id,
        question=case.question,
        expected=case.expected,
        needs=max(len(case.gold), 1),
        gold=case.gold,
        seed=seed,
    )


def run_arms(
    arms: Sequence[Arm],
    cases: Sequence[Case],
    answer: Answer,
    wanted: Wanted,
    *,
    data: str,
    watch: Watch,
    asked: Callable[[Arm], str] = lambda _: "",
    warm: Callable[[Arm], None] = lambda _: None,
) -> dict[Arm, list[Row]]:
    """Ask every case in every arm; what the files hold already is not asked again, but for outages and crashes.

    Arms with the same documentation and settings take turns, `BLOCK` questions each. After `MOST_OUTAGES` outages in a
    row an arm is asked no further. `data` and `asked` are digests, see `header`. `warm` is called before another
    documentation's or setting's turn: to have the model read what all its prompts begin with, which is no question's
    time.

    Raises:
        InvalidRunFile: a file holds another run, or cannot be written.
        KeyboardInterrupt: as it comes; what was answered is in the files.
    """
    with ExitStack() as stack:
        files = {
            arm: stack.enter_context(
                RowFile(
                    wanted.folder / arm.file,
                    header(arm, data=data, seed=wanted.seed, asked=asked(arm)),
                    restart=wanted.restart,
                )
            )
            for arm in arms
        }
        turns = [(arm, case) for arm, case in _turns(arms, cases) if not _graded(files[arm], case)]
        total = len(arms) * len(cases)
        done, failed = total - len(turns), Counter[Arm]()
        prompt: tuple[str, Any] | None = None
        for arm, case in turns:
            if failed[arm] >= MOST_OUTAGES:
                continue
            if prompt != (arm.docs, arm.settings):
                prompt = (arm.docs, arm.settings)
                warm(arm)
            row = ask_once(answer, arm, case, _beside(files, arm, case), seed=wanted.seed)
            files[arm].append(row)
            done += 1
            watch(arm, row, done, total)
            failed[arm] = failed[arm] + 1 if row.status == "outage" else 0
        return {
            arm: [file.rows[case.id, 0] for case in cases if (case.id, 0) in file.rows] for arm, file in files.items()
        }


def ask_once(answer: Answer, arm: Arm, case: Case, beside: Mapping[str, Row], *, seed: int) -> Row:
    """The row of one case. Never raises an `Exception`: what failed on our side is in the row."""
    begun = time.perf_counter()
    try:
        return answer(arm, case, beside)
    except AtcError as error:
        status, told = "outage", str(error)
    except Exception as error:  # noqa: BLE001 - a bug of ours must neither end hours of work nor count as the model's
        status, told = "crash", f"{type(error).__name__}: {error}"
    return replace(blank(case, seed=seed), status=status, error=told, seconds=time.perf_counter() - begun)


def _turns(arms: Sequence[Arm], cases: Sequence[Case]) -> Iterator[tuple[Arm, Case]]:
    """Arms with one prompt in turn, block by block, each block beginning with another arm; those of `LAST` at the end,
    since they may go by what the others were answered.
    """
    for _, some in groupby(arms, key=lambda arm: (arm.docs, arm.settings)):
        group = list(some)
        first, last = [arm for arm in group if arm.mode not in LAST], [arm for arm in group if arm.mode in LAST]
        for number, start in enumerate(range(0, len(cases), BLOCK)):
            place = number % len(first) if first else 0
            for arm in [*first[place:], *first[:place], *last]:
                yield from ((arm, case) for case in cases[start : start + BLOCK])


LAST = frozenset({"fuzzy", "fuzzy-longest"})
"""Modes that mend the free reply to the same question."""


def _graded(file: RowFile, case: Case) -> bool:
    row = file.rows.get((case.id, 0))
    return row is not None and row.graded


def _beside(files: Mapping[Arm, RowFile], arm: Arm, case: Case) -> dict[str, Row]:
    alike = [
        other for other in files if (other.model, other.docs, other.settings) == (arm.model, arm.docs, arm.settings)
    ]
    found = {other.mode: files[other].rows.get((case.id, 0)) for other in alike if other != arm}
    return {mode: row for mode, row in found.items() if row is not None and row.graded}
