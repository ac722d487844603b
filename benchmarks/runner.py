"""What the benchmarks share: data files, rows that a stopped run goes on from, figures, and the way a suite is run."""

from __future__ import annotations

import inspect
import json
import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click
import yaml

from atc.agent import Agent
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

MOST_OUTAGES = 5  # in a row: after so many nobody is asked any further
_SCREEN = 30


_Any = TypeVar("_Any")
_Work = Callable[[Any], Any]


class InvalidData(AtcError):
    """A benchmark's data cannot be used; says which file, what is wrong with it and what to do."""

    exit_code = 2


class Outage(AtcError):
    """A model or a service kept failing. What was found until then is in the file; the same command goes on."""

    exit_code = 3


def read_json(path: Path, expected: str) -> Any:
    """The content of a JSON file, which is or lies in what is `expected`. Raises InvalidData."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidData(
            f"cannot read {str(path)!r} ({error}); give --data {expected}."
        ) from error


def draw_sample(things: Sequence[Any], count: int | None, seed: int, kind: str) -> list[Any]:
    """`count` of the things (None: all) in their order, drawn by seed, kind and their ids alone."""
    most = len(things) if count is None else count
    return list(
        draw_stratified(things, most, seed=seed, name=lambda one: one.id, stratum=lambda _: kind)
    )


def track_progress(label: str, things: Iterable[_Any], *, total: int) -> Iterator[_Any]:
    """The things, with a bar that says how many of them are done."""
    with bar(label, total=total) as watch:
        for done, one in enumerate(things, start=1):
            yield one
            watch(done)


class Rows(LineFile):
    """An open file of rows, locked against other processes; `rows` has the last row of each key so far, in order.

    `key` names the fields that say which piece of work a row is of. `header` is what all rows have in common: a file is
    continued only under an equal one. A line that a killed run left half-written is cut off. Raises InvalidRunFile: it
    holds other work, is no such file, is locked or cannot be written.
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
        self.rows[tuple(row[name] for name in self._key)] = dict(row)

    def is_missing(self, key: tuple[Any, ...]) -> bool:
        """Whether a row is not there, or was an outage."""
        return key not in self.rows or bool(self.rows[key].get("outage"))

    def fill(
        self, things: Sequence[Any], measure: _Work, *, key: _Work, label: str, jobs: int = 1
    ) -> list[dict[str, Any]]:
        """The row of each of `things`; those that the file lacks are measured, `jobs` at once. Raises Outage."""
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
                        f"{label}: {row['outage']} It failed {failed} times in a row; the same command goes on."
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
            self.rows = {tuple(row[name] for name in self._key): row for row in rows}
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InvalidRunFile(
                f"{str(self.path)!r} cannot be continued ({error}); give another --out."
            ) from error
        if differing := differences(found, header):
            told = f"{str(self.path)!r} holds work done otherwise ({'; '.join(differing)})"
            raise InvalidRunFile(f"{told}; give another --out, or remove it to begin anew.")
        self.truncate_to(self.whole)


def scripted_agent(
    tools: Toolbox,
    sandbox: Sandbox,
    *programs: str,
    ask_person: Any = None,
    store: Any = None,
    **settings: Any,
) -> Agent:
    """An agent whose model writes these programs in turn, each when the one before has failed. It may write."""
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
    """What the work gives, and its seconds of wall time."""
    begun = time.perf_counter()
    return work(), time.perf_counter() - begun


def share_with_interval(hits: int, n: int) -> dict[str, float] | None:
    """A share with Wilson's 95% interval, which takes the counted to be independent; None of nothing."""
    if not n:
        return None
    z = 1.96
    share = hits / n
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
    return (
        ordered[max(0, -(-len(ordered) * int(percent * 10) // 1000) - 1)]
        if ordered
        else float("nan")
    )


def suite(measure: Callable[..., Mapping[str, Any]]) -> click.Command:
    """The command of a suite: `measure` takes its options and gives its report, printed as YAML, with --json as JSON.

    Its help is the docstring of `measure`, else of the module. Exit status 1 where the report says `passed: false`, 3
    where `left` counts what failed on our side; what cannot be done ends it with one sentence.
    """

    @click.command(help=inspect.getdoc(measure) or inspect.getdoc(inspect.getmodule(measure)))
    @wraps(measure)
    def main(*, as_json: bool, **options: Any) -> None:
        try:
            report = measure(**options)
        except AtcError as problem:
            click.echo(str(problem), err=True)
            sys.exit(problem.exit_code)
        if as_json:
            click.echo(json.dumps(report, ensure_ascii=False, default=repr))
        else:
            click.echo(
                yaml.safe_dump(brief(report), sort_keys=False, allow_unicode=True, width=120),
                nl=False,
            )
        sys.exit(3 if report.get("left") else 1 if report.get("passed") is False else 0)

    main.params.append(
        click.Option(["--json", "as_json"], is_flag=True, help="Print the report as JSON.")
    )
    return main


def brief(part: Any) -> Any:
    """A report for people: of an estimate the figures, of rows that fill more than a screen their number."""
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
