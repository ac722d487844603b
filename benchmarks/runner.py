"""Code that the benchmarks share: data files, resumable row files, statistics, and commands."""

from __future__ import annotations

import inspect
import json
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click
import yaml

from atc.agent import Agent
from atc.cli.errors import ExitCode, find_entry
from atc.cli.output import bar
from atc.core.config import Config
from atc.core.parallel import run_parallel
from atc.models.scripted import ScriptedModel
from protocols.errors import AtcError
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from toolflow_bench.resampling import estimate
from toolflow_bench.rows import InvalidRunFile, LineFile, differences
from toolflow_bench.suites import draw_stratified

MOST_OUTAGES = 5
"""Number of outages in a row after which a benchmark stops."""
_SCREEN = 30


_Any = TypeVar("_Any")
_Work = Callable[[Any], Any]


class InvalidData(AtcError):
    """A benchmark's data cannot be used.

    The message names the file, the problem, and what the user should do.
    """


class Outage(AtcError):
    """A model or a service failed several times in a row.

    The finished rows are in the file. The same command continues the benchmark.
    """


def read_json(path: Path, expected: str) -> Any:
    """Return the content of a JSON file.

    `expected` is a phrase for the error message that says what `--data` must name.

    Raises:
        InvalidData: the file cannot be read.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidData(
            f"cannot read {str(path)!r} ({error}); give --data {expected}."
        ) from error


def draw_sample(things: Sequence[Any], count: int | None, seed: int, kind: str) -> list[Any]:
    """Return a sample of `count` items in their original order, or all items if `count` is None.

    The sample depends only on the seed, on `kind` and on the items' ids.
    """
    most = len(things) if count is None else count
    return list(
        draw_stratified(things, most, seed=seed, name=lambda one: one.id, stratum=lambda _: kind)
    )


def track_progress(label: str, things: Iterable[_Any], *, total: int) -> Iterator[_Any]:
    """Yield the items, and show a progress bar that counts the finished ones."""
    with bar(label, total=total) as watch:
        for done, one in enumerate(things, start=1):
            yield one
            watch(done)


class Rows(LineFile):
    """An open file with the rows (results) of a benchmark, locked against other processes.

    `rows` has the last row of each key, in order. `key` names the fields that identify a row.
    `header` has the settings that all rows share: a file can be continued only with an equal
    header. A line that a killed process left incomplete is removed.

    Raises:
        InvalidRunFile: the file belongs to other settings, has another format, is locked or cannot
            be written.
    """

    def __init__(self, path: Path, header: Mapping[str, Any], *, key: Sequence[str]) -> None:
        super().__init__(path)
        self._key = key
        self.rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        try:
            self._begin(json.loads(json.dumps(header)))
        except BaseException:
            self.close()
            raise

    def append(self, row: Mapping[str, Any]) -> None:
        self.write(dict(row))
        self.rows[self._key_of(row)] = dict(row)

    def _key_of(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(row[name] for name in self._key)

    def is_missing(self, key: tuple[Any, ...]) -> bool:
        """Return True if there is no row (result) for `key`, or only one that records an outage."""
        return key not in self.rows or bool(self.rows[key].get("outage"))

    def fill(
        self, things: Sequence[Any], measure: _Work, *, key: _Work, label: str, jobs: int = 1
    ) -> list[dict[str, Any]]:
        """Return the row (result) of each item. Items whose row is missing are measured.

        `jobs` items are measured at a time.

        Raises:
            Outage: several measurements in a row failed because a model or a service failed.
        """
        todo = [one for one in things if self.is_missing(key(one))]
        failed = 0
        with bar(label, total=len(things)) as watch:
            for done, row in enumerate(
                run_parallel(measure, todo, most=jobs), start=len(things) - len(todo) + 1
            ):
                self.append(row)
                watch(done)
                failed = failed + 1 if row.get("outage") else 0
                if failed >= MOST_OUTAGES:
                    raise Outage(
                        f"{label}: {row['outage']} It failed {failed} times in a row; the same "
                        "command goes on."
                    )
        return [self.rows[key(one)] for one in things]

    def _begin(self, header: dict[str, Any]) -> None:
        if self.content and not b'{"format"'.startswith(self.content[:9]):
            raise InvalidRunFile(
                f"{str(self.path)!r} is no file of a benchmark's rows; give another --out."
            )
        if not self.whole:
            self.truncate_to(b"")
            self.write(header)
            return
        try:
            found, *rows = (json.loads(line) for line in self.whole.splitlines())
            self.rows = {self._key_of(row): row for row in rows}
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InvalidRunFile(
                f"{str(self.path)!r} cannot be continued ({error}); give another --out."
            ) from error
        if differing := differences(found, header):
            problem = f"{str(self.path)!r} holds work done otherwise ({'; '.join(differing)})"
            raise InvalidRunFile(f"{problem}; give another --out, or remove it to begin anew.")
        self.truncate_to(self.whole)


USAGE = ("model_calls", "input_tokens", "output_tokens")


def scripted_agent(
    tools: Toolbox,
    sandbox: Sandbox,
    *programs: str,
    ask_person: Any = None,
    store: Any = None,
    **settings: Any,
) -> Agent:
    """Return an agent whose model writes these programs in turn. The agent may call writing tools.

    The model writes the next program when the last one has failed.
    """
    model = ScriptedModel(*(f"```python\n{program}\n```" for program in programs))
    usual = {
        "strategy": "chain",
        "samples": 1,
        "max_repairs": len(programs) - 1,
        "allow_writes": ("all",),
    }
    config = Config(**{**usual, **settings})
    return Agent(
        tools, model=model, sandbox=sandbox, config=config, ask_person=ask_person, store=store
    )


def measure_seconds(work: Callable[[], _Any]) -> tuple[_Any, float]:
    """Call `work` and return its result and the seconds of wall time that it took."""
    begun = time.perf_counter()
    return work(), time.perf_counter() - begun


def share_with_interval(hits: int, n: int) -> dict[str, float] | None:
    """Return the share `hits / n` with Wilson's 95% interval, or None if `n` is 0.

    The interval assumes that the cases are independent.
    """
    if not n:
        return None
    z = 1.96
    share = hits / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return {"mean": share, "low": max(0.0, middle - half), "high": min(1.0, middle + half), "n": n}


def sum_usage(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return the total number of model calls and tokens of all rows."""
    total = Counter[str]()
    for row in rows:
        total.update({key: row["usage"][key] for key in USAGE})
    return {key: total[key] for key in USAGE}


def interval(values: Sequence[float], seed: int = 0) -> dict[str, float] | None:
    """Return the mean of the values with its bootstrap interval, or None if there are no values."""
    found = estimate(values, seed=seed)
    return None if found is None else asdict(found)


def percentile(values: Iterable[float], percent: float) -> float:
    """Return the smallest of the values that is at least as large as `percent` percent of them."""
    ordered = sorted(values)
    return (
        ordered[max(0, -(-len(ordered) * int(percent * 10) // 1000) - 1)]
        if ordered
        else float("nan")
    )


def suite(measure: Callable[..., Mapping[str, Any]]) -> click.Command:
    """Return the command of a benchmark suite. `measure` takes the options and returns the report.

    The report is printed as YAML, or with --json as JSON. The command's help is the docstring of
    `measure`, or else of its module. The exit status is 1 if the report contains `passed: false`,
    and 3 if its `left` counts results that are missing because a model, a service or this program
    failed. Errors end the command with one sentence.
    """

    @click.command(help=inspect.getdoc(measure) or inspect.getdoc(inspect.getmodule(measure)))
    @wraps(measure)
    def main(*, as_json: bool, **options: Any) -> None:
        try:
            report = measure(**options)
        except AtcError as problem:
            click.echo(str(problem), err=True)
            wrong = isinstance(problem, InvalidData)
            sys.exit(ExitCode.USAGE if wrong else find_entry(problem).code)
        if as_json:
            click.echo(json.dumps(report, ensure_ascii=False, default=repr))
        else:
            click.echo(
                yaml.safe_dump(brief(report), sort_keys=False, allow_unicode=True, width=120),
                nl=False,
            )
        if report.get("left"):
            sys.exit(3)
        sys.exit(1 if report.get("passed") is False else 0)

    main.params.append(
        click.Option(["--json", "as_json"], is_flag=True, help="Print the report as JSON.")
    )
    return main


def brief(part: Any) -> Any:
    """Shorten a report for people.

    Estimates become text, and a long list of rows becomes its length.
    """
    if isinstance(part, Mapping) and "low" in part:
        return f"{part['mean']:.3f} ({part['low']:.3f} to {part['high']:.3f})"
    if isinstance(part, Mapping):
        return {str(key): brief(value) for key, value in part.items()}
    if isinstance(part, list | tuple):
        rows = len(part) > _SCREEN and not isinstance(part[0], str)
        return f"{len(part)}, which --json prints" if rows else [brief(one) for one in part]
    if isinstance(part, float):
        return float(f"{part:.4g}")
    return part if part is None or isinstance(part, str | int) else repr(part)
