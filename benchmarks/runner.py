"""What the benchmarks share: data files, rows that a stopped run goes on from, figures, and the way a suite is run."""

from __future__ import annotations

import inspect
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import wraps
from pathlib import Path
from typing import Any

import click

from atc.cli.progress import bar
from atc.side_by_side import as_done
from protocols.errors import AtcError
from toolflow_bench.columns import columns
from toolflow_bench.resampling import estimate
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
    continued only under an equal one. A line that a killed run left half-written is cut off.

    Raises:
        InvalidRunFile: it holds other work, is no such file, is locked or cannot be written.
    """

    def __init__(self, path: Path, header: Mapping[str, Any], *, key: Sequence[str]) -> None:
        super().__init__(path, synced=False)
        self._key = key
        self.rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        try:
            self._begin(json.loads(json.dumps(header)))
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

    def _begin(self, header: dict[str, Any]) -> None:
        if self.content and not b'{"format"'.startswith(self.content[:9]):
            raise InvalidRunFile(f"{str(self.path)!r} is no file of a benchmark's rows; give another --out.")
        if not self.whole:
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


_SCREEN = 30


def rate(hits: int, n: int) -> dict[str, float] | None:
    """A share with Wilson's 95% interval, which takes the counted to be independent; None of nothing."""
    if not n:
        return None
    z, share = 1.96, hits / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return {"mean": share, "low": max(0.0, middle - half), "high": min(1.0, middle + half), "n": n}


def interval(values: Sequence[float], seed: int = 0) -> dict[str, float] | None:
    """A mean with its bootstrap interval; None of nothing."""
    found = estimate(values, seed=seed)
    return None if found is None else asdict(found)


def percentile(values: Iterable[float], percent: float) -> float:
    """The smallest value that so many percent do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * int(percent * 10) // 1000) - 1)] if ordered else float("nan")


def suite(measure: Callable[..., Mapping[str, Any]]) -> click.Command:
    """The command of a suite: `measure` takes its options and gives its report, which is printed, with --json as JSON.

    Its help is the docstring of `measure`, else of the module. Exit status 1 where the report says `passed: false`, 3
    where `left` counts what failed on our side; what cannot be done ends it with one sentence.
    """

    @click.command(help=inspect.getdoc(measure) or inspect.getdoc(inspect.getmodule(measure)))
    @wraps(measure)
    def main(**options: Any) -> None:
        as_json = options["as_json"] if own else options.pop("as_json")
        try:
            report = measure(**options)
        except AtcError as problem:
            click.echo(str(problem), err=True)
            sys.exit(problem.exit_code)
        click.echo(json.dumps(report, ensure_ascii=False, default=repr) if as_json else "\n".join(told(report)))
        sys.exit(3 if report.get("left") else 1 if report.get("passed") is False else 0)

    own = any(option.name == "as_json" for option in main.params)  # among options that it shares with `atc bench`
    if not own:
        main.params.append(click.Option(["--json", "as_json"], is_flag=True, help="Print the report as JSON."))
    return main


def told(report: Mapping[str, Any], title: str = "") -> Iterator[str]:
    """A report for people: plain values a line each, then its parts; things with figures alike are a table.

    Of a list longer than a screen its length is told: --json has it.
    """
    if title:
        yield from ("", f"{title}:")
    plain = {key: value for key, value in report.items() if not _is_part(value)}
    yield from columns([(key, _cell(value)) for key, value in plain.items()])
    for key, part in report.items():
        if not _is_part(part):
            continue
        if isinstance(part, list) and len(part) > _SCREEN and not isinstance(part[0], str):
            yield from ("", f"{key}: {len(part)}, which --json prints")
            continue
        if isinstance(part, list) and isinstance(part[0], str):
            yield from ("", f"{key}:", *part)
            continue
        rows = dict(enumerate(part)) if isinstance(part, list) else part
        if all(isinstance(row, Mapping) and not all(map(_is_part, row.values())) for row in rows.values()):
            heads = list(dict.fromkeys(head for row in rows.values() for head in row))
            yield from ("", f"{key}:")
            yield from columns(
                [("", *map(str, heads)), *((str(k), *(_cell(r.get(h)) for h in heads)) for k, r in rows.items())]
            )
        else:
            yield from told(part, key)


def _is_part(value: Any) -> bool:
    """Whether a value is shown by itself: rows or lines, or an object that is no estimate."""
    if isinstance(value, list):
        return bool(value) and isinstance(value[0], Mapping | str)
    return isinstance(value, Mapping) and bool(value) and "low" not in value


def _cell(value: Any) -> str:
    if isinstance(value, Mapping) and "low" in value:
        return f"{value['mean']:.3f} ({value['low']:.3f} to {value['high']:.3f})"
    if isinstance(value, Mapping):
        return " ".join(f"{key} {_cell(one)}" for key, one in value.items())
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
