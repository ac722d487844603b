"""What the benchmarks share: data files, rows that a stopped run goes on from, figures, and the way a suite is run."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from atc.cli.progress import bar
from atc.side_by_side import as_done
from protocols.errors import AtcError
from toolflow_bench.resampling import estimate, wilson
from toolflow_bench.rows import InvalidRunFile, LineFile, differences

MOST_OUTAGES = 5
"""In a row: after so many nobody is asked any further."""


class InvalidData(AtcError):
    """A benchmark's data cannot be used; says which file, what is wrong with it and what to do."""

    exit_code = 2


class Outage(AtcError):
    """A model or a service kept failing. What was found until then is in the file; the same command goes on."""

    exit_code = 3


def read_json(path: Path, expected: str) -> Any:
    """The content of a JSON file that is, or lies in a folder with, what is `expected`.

    Raises:
        InvalidData: it cannot be read, or is not JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidData(f"cannot read {str(path)!r} ({error}); give --data {expected}.") from error


class Rows(LineFile):
    """An open file of rows, locked against other processes; `rows` has the last row of each key so far, in order.

    `key` names the fields that say which piece of work a row is of. `header` is what all rows have in common: a file is
    continued only under an equal one (`restart` empties it). A line that a killed run left half-written is cut off.

    Raises:
        InvalidRunFile: it holds other work, is no such file, is locked or cannot be written.
    """

    def __init__(self, path: Path, header: Mapping[str, Any], *, key: Sequence[str], restart: bool = False) -> None:
        super().__init__(path, synced=False)
        self._key = key
        self.rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        try:
            self._begin(json.loads(json.dumps(header)), restart=restart)
        except BaseException:
            self.close()
            raise

    def append(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Write a row, and give it."""
        self.write(dict(row))
        self.rows[tuple(row[name] for name in self._key)] = dict(row)
        return dict(row)

    def fill(
        self,
        things: Sequence[Any],
        measure: Callable[[Any], Mapping[str, Any]],
        *,
        key: Callable[[Any], tuple[Any, ...]],
        label: str,
        jobs: int = 1,
    ) -> list[dict[str, Any]]:
        """The row of each of `things`; `measure` is asked for those that the file lacks or that were an outage.

        `jobs` are measured at once, and each row is written as soon as it is there.

        Raises:
            Outage: `MOST_OUTAGES` in a row failed on our side.
        """
        todo = [one for one in things if self.rows.get(key(one), {"outage": "none yet"}).get("outage")]
        failed = 0
        with bar(label, total=len(things)) as watch:
            for done, row in enumerate(as_done(measure, todo, most=jobs), start=len(things) - len(todo) + 1):
                self.append(row)
                watch(done)
                failed = failed + 1 if row.get("outage") else 0
                if failed >= MOST_OUTAGES:
                    raise Outage(
                        f"{label}: {row['outage']} It failed {failed} times in a row; the same command goes on."
                    )
        return [self.rows[key(one)] for one in things]

    def _begin(self, header: dict[str, Any], *, restart: bool) -> None:
        if self.content and not b'{"format"'.startswith(self.content[:9]):
            raise InvalidRunFile(f"{str(self.path)!r} is no file of a benchmark's rows; give another --out.")
        if restart or not self.whole:
            self.keep(b"")
            self.write(header)
            return
        try:
            found, *rows = (json.loads(line) for line in self.whole.splitlines())
            self.rows = {tuple(row[name] for name in self._key): row for row in rows}
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InvalidRunFile(f"{str(self.path)!r} cannot be continued ({error}); give another --out.") from error
        if differing := differences(found, header):
            told = f"{str(self.path)!r} holds work done otherwise ({'; '.join(differing)})"
            raise InvalidRunFile(f"{told}; give another --out, or remove it to begin anew.")
        self.keep(self.whole)


def rate(hits: int, n: int) -> dict[str, float] | None:
    """A share with Wilson's 95% interval; None of nothing."""
    found = wilson(hits, n)
    return None if found is None else {"mean": hits / n, **found._asdict(), "n": n}


def interval(values: Sequence[float], seed: int = 0) -> dict[str, float] | None:
    """A mean with its bootstrap interval; None of nothing."""
    found = estimate(values, seed=seed)
    return None if found is None else asdict(found)


def percentile(values: Iterable[float], percent: float) -> float:
    """The smallest value that so many percent do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * int(percent * 10) // 1000) - 1)] if ordered else float("nan")


def show(report: Mapping[str, Any], lines: Iterable[str], *, as_json: bool) -> None:
    """Print a suite's report, for machines or for people."""
    click.echo(json.dumps(report, ensure_ascii=False, default=repr) if as_json else "\n".join(lines))


def start(command: Callable[[], Any]) -> None:
    """Run a suite's command; what cannot be done ends it with one sentence."""
    try:
        command()
    except AtcError as problem:
        click.echo(str(problem), err=True)
        sys.exit(problem.exit_code)
