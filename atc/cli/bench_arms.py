"""Several strategies on the same questions: a file of rows each, asked side by side, and one table of figures."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from atc.cli.bench_run import RunOptions, Watch, lines, own_file
from atc.cli.options import StrategyType
from atc.cli.output import print_json, print_text, say
from atc.config import Config
from atc.strategies import STRATEGIES

if TYPE_CHECKING:
    from atc.models.prices import Price
    from toolflow_bench.metrics import Row, Summary
    from toolflow_bench.resampling import Estimate
    from toolflow_bench.rows import Header
    from toolflow_bench.runner import Item, OpenWorker

_Verb = TypeVar("_Verb", bound=Callable[..., Any])

ALL = "all"
"""Stands for every strategy."""


def strategies_option(*others: str, also: str = "") -> Callable[[_Verb], _Verb]:
    """`--strategy NAME`, repeatable; `others` are names of the suite's own, which `also` explains."""
    told = f"How a task is solved: {', '.join(STRATEGIES)}; '{ALL}' is each of these in turn. Repeatable.{also}"

    def decorate(verb: _Verb) -> _Verb:
        option = click.option("--strategy", "strategies", multiple=True, type=StrategyType(ALL, *others), help=told)
        return option(verb)

    return decorate


def wanted(strategies: Sequence[str]) -> tuple[str | None, ...]:
    """The strategies that are named, each once; None stands for the configured one."""
    names = [name for given in strategies for name in (STRATEGIES if given == ALL else (given,))]
    return tuple(dict.fromkeys(names)) or (None,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One strategy's run of a suite: who answers, at what price, and the file of its rows."""

    name: str
    header: Header
    open_worker: OpenWorker
    path: Path
    price: Price | None = None

    @classmethod
    def of(
        cls,
        name: str,
        open_worker: OpenWorker,
        *,
        header: Header,
        config: Config,
        options: RunOptions,
        items: Sequence[Item],
        alone: bool,
        price: Price | None = None,
    ) -> Arm:
        """An arm with `--out`, or a file in the state folder, as its file; one of several has its name in it."""
        slug = "" if alone else re.sub(r"[^\w@]+", "-", name).strip("-")
        if options.out is not None:
            path = options.out if alone else options.out.with_stem(f"{options.out.stem}-{slug}")
        else:
            path = own_file(config, header, items[: options.limit], repeats=options.repeats, named=slug)
        return cls(name=name, header=header, open_worker=open_worker, path=path, price=price)


def ask_arms(items: Sequence[Item], arms: Sequence[Arm], *, options: RunOptions, watch: Watch) -> list[list[Row]]:
    """The rows of each arm. Several arms take turns, some questions each: a run that is stopped compares them all.

    Raises:
        AtcError: as `run_suite`.
        KeyboardInterrupt: after a sentence on how to go on.
    """
    from toolflow_bench.runner import run_suite

    asked = items[: options.limit]
    # In an order of their own: where several arms are stopped halfway, what they have is a fair sample.
    order = asked if len(arms) == 1 else random.Random(options.seed).sample(asked, len(asked))  # noqa: S311 - not secrecy
    times = f", {options.repeats} times each," if options.repeats > 1 else ""
    for arm in arms:
        named = f", {arm.name}" if len(arms) > 1 else ""
        header = arm.header
        say(f"{header.suite}{named}: {len(asked)} questions{times} with {header.model}; rows go to {arm.path}")
    total, done = len(arms) * len(asked) * options.repeats, 0
    restart = dict.fromkeys((arm.path for arm in arms), options.restart)

    def ask(arm: Arm, some: Sequence[Item]) -> list[Row]:
        begun, watch.arm = done, arm.name if len(arms) > 1 else ""
        rows = run_suite(
            some,
            arm.open_worker,
            header=arm.header,
            out=arm.path,
            restart=restart[arm.path],
            jobs=options.jobs,
            repeats=options.repeats,
            timeout_seconds=options.timeout,
            price=arm.price,
            on_row=lambda row, number, _: watch(row, begun + number, total),
        )
        restart[arm.path] = False
        return rows

    found: list[dict[tuple[str, int], Row]] = [{} for _ in arms]
    try:
        with watch:
            for some in _slices(order, options.jobs if len(arms) > 1 else len(asked)):
                for arm, rows in zip(arms, found, strict=True):
                    rows |= {row.key: row for row in ask(arm, some)}
                    done += len(some) * options.repeats
    except KeyboardInterrupt:
        say("Stopped; the same command goes on: give it the same --out." if options.out else _again(arms))
        raise
    keys = [(item.question.id, repeat) for repeat in range(options.repeats) for item in asked]
    return [[rows[key] for key in keys] for rows in found]


def _again(arms: Sequence[Arm]) -> str:
    if len(arms) == 1:
        return f"Stopped; the same command with --out {arms[0].path} goes on."
    return "Stopped; the same command goes on."


def _slices(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    """The items, `size` at a time; more where that took no time, since workers are opened anew for each slice."""
    begin = 0
    while begin < len(items):
        since = time.monotonic()
        yield items[begin : begin + size]
        begin += size
        size *= 2 if time.monotonic() - since < _SHORT_TURN else 1


_SHORT_TURN = 10.0
"""Seconds. Arms that are all asked within less take longer turns."""
_HEADS = ("strategy", "n", "solved", "95%", "Path", "Precision", "CP", "tokens", "cached", "model calls", "calls", "s")
_UNGRADED = tuple(head for head in _HEADS if head not in ("solved", "95%"))


def print_table(arms: Sequence[Arm], summaries: Sequence[Summary], *, graded: bool = True) -> None:
    """A line an arm: shares of tasks, then what a task took on average. `graded`: answers are."""
    from toolflow_bench.columns import columns

    heads = [*_HEADS] if graded else [*_UNGRADED]
    heads += ["USD"] if any(summary.cost is not None for summary in summaries) else []
    rows = [_cells(arm.name, summary) for arm, summary in zip(arms, summaries, strict=True)]
    print_text("\n".join(columns([heads, *([row[head] for head in heads] for row in rows)])))


def _cells(name: str, summary: Summary) -> dict[str, str]:
    n = summary.graded

    def mean(total: float, digits: int = 0) -> str:
        return f"{total / n:,.{digits}f}" if n else "–"

    interval = "–" if summary.interval is None else f"{summary.interval[0]:.0%}–{summary.interval[1]:.0%}"
    return {
        "strategy": name,
        "n": str(n),
        "solved": "–" if summary.share is None else f"{summary.share:.0%}",
        "95%": interval,
        "Path": _share(summary.path),
        "Precision": _share(summary.precision),
        "CP": _share(summary.cp),
        "tokens": mean(summary.input_tokens + summary.output_tokens),
        "cached": mean(summary.cached_tokens),
        "model calls": mean(summary.model_calls, 1),
        "calls": mean(summary.calls, 1),
        "s": mean(summary.seconds_total, 1),
        "USD": "–" if summary.cost is None else mean(summary.cost, 4),
    }


def _share(found: Estimate | None) -> str:
    return "–" if found is None else f"{found.mean:.0%}"


def measure(items: Sequence[Item], arms: Sequence[Arm], *, options: RunOptions) -> int:
    """Ask, watched by the person, and print the figures. Gives the exit status: 3 where outages are left."""
    from toolflow_bench.metrics import summarize

    rows = ask_arms(items, arms, options=options, watch=Watch())
    summaries = [summarize(some, seed=options.seed) for some in rows]
    if options.as_json:
        shown = [
            {"suite": arm.header.suite, "model": arm.header.model, "strategy": arm.name, "rows": str(arm.path)}
            | summary.as_json()
            for arm, summary in zip(arms, summaries, strict=True)
        ]
        print_json(shown[0] if len(arms) == 1 else {"suite": arms[0].header.suite, "strategies": shown})
    elif len(arms) == 1:
        print_text("\n".join(lines(summaries[0])))
    else:
        print_table(arms, summaries)
        say(f"A page: atc bench report {' '.join(str(arm.path) for arm in arms)}")
    return 3 if any(summary.outages or summary.crashes for summary in summaries) else 0
