"""Several strategies on the same questions: a file of rows each, asked side by side, and one table of figures."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from atc.cli.bench_run import RunOptions, Watch, lines, own_file
from atc.cli.options import StrategyType
from atc.cli.output import print_json, print_text, say
from atc.config import Config
from atc.models.prices import Price
from atc.strategies import STRATEGIES
from toolflow_bench.columns import columns
from toolflow_bench.metrics import Row, Summary, summarize
from toolflow_bench.resampling import Estimate
from toolflow_bench.rows import Header
from toolflow_bench.runner import Item, OpenWorker, run_suite

_Verb = TypeVar("_Verb", bound=Callable[..., Any])

ALL = "all"
"""Stands for every strategy."""
_SHORT_TURN = 10.0
"""Seconds. Arms that are all asked within less take longer turns."""


def strategies_option(*others: str, also: str = "") -> Callable[[_Verb], _Verb]:
    """`--strategy NAME`, repeatable; `others` are names of the suite's own, which `also` explains."""
    told = f"How a task is solved: {', '.join(STRATEGIES)}; '{ALL}' is each of these in turn. Repeatable.{also}"
    return click.option("--strategy", "strategies", multiple=True, type=StrategyType(ALL, *others), help=told)


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


def measure(items: Sequence[Item], arms: Sequence[Arm], *, options: RunOptions) -> int:
    """Ask, watched by the person, and print the figures. Gives the exit status: 3 where outages are left."""
    summaries = [summarize(some, seed=options.seed) for some in ask_arms(items[: options.limit], arms, options)]
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
        rows = [_cells(arm.name, summary) for arm, summary in zip(arms, summaries, strict=True)]
        heads = [head for head in rows[0] if head != "USD" or any(summary.cost is not None for summary in summaries)]
        print_text("\n".join(columns([heads, *([row[head] for head in heads] for row in rows)])))
        say(f"A page: atc bench report {' '.join(str(arm.path) for arm in arms)}")
    return 3 if any(summary.ungraded for summary in summaries) else 0


def ask_arms(asked: Sequence[Item], arms: Sequence[Arm], options: RunOptions) -> list[list[Row]]:
    """The rows of each arm. Several arms take turns, some questions each: a run that is stopped compares them all."""
    # In an order of their own: where several arms are stopped halfway, what they have is a fair sample.
    order = asked if len(arms) == 1 else random.Random(options.seed).sample(asked, len(asked))  # noqa: S311 - not secrecy
    times = f", {options.repeats} times each," if options.repeats > 1 else ""
    for arm in arms:
        named = f"{arm.header.suite}, {arm.name}" if len(arms) > 1 else arm.header.suite
        say(f"{named}: {len(asked)} questions{times} with {arm.header.model}; rows go to {arm.path}")
    total, done = len(arms) * len(asked) * options.repeats, 0
    found: list[dict[tuple[str, int], Row]] = [{} for _ in arms]
    watch = Watch()
    try:
        with watch:
            for turn, some in enumerate(_slices(order, options.jobs if len(arms) > 1 else len(asked))):
                for arm, rows in zip(arms, found, strict=True):
                    watch.arm = arm.name if len(arms) > 1 else ""
                    of_turn = run_suite(
                        some,
                        arm.open_worker,
                        header=arm.header,
                        out=arm.path,
                        restart=options.restart and not turn,
                        jobs=options.jobs,
                        repeats=options.repeats,
                        timeout_seconds=options.timeout,
                        price=arm.price,
                        on_row=partial(_show, watch, done, total),
                    )
                    rows |= {row.key: row for row in of_turn}
                    done += len(some) * options.repeats
    except KeyboardInterrupt:
        again = "goes on: give it the same --out." if options.out else "goes on."
        if len(arms) == 1 and not options.out:
            again = f"with --out {arms[0].path} goes on."
        say(f"Stopped; the same command {again}")
        raise
    keys = [(item.question.id, repeat) for repeat in range(options.repeats) for item in asked]
    return [[rows[key] for key in keys] for rows in found]


def _show(watch: Watch, begun: int, total: int, row: Row, number: int, _: int) -> None:
    watch(row, begun + number, total)


def _slices(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    """The items, `size` at a time; more where that took no time, since workers are opened anew for each slice."""
    begin = 0
    while begin < len(items):
        since = time.monotonic()
        yield items[begin : begin + size]
        begin += size
        size *= 2 if time.monotonic() - since < _SHORT_TURN else 1


def _cells(name: str, summary: Summary) -> dict[str, str]:
    """Shares of tasks, then what a task took on average."""
    n = summary.graded

    def mean(total: float, digits: int = 0) -> str:
        return f"{total / n:,.{digits}f}" if n else "–"

    def share(found: Estimate | None) -> str:
        return "–" if found is None else f"{found.mean:.0%}"

    interval = "–" if summary.interval is None else f"{summary.interval[0]:.0%}–{summary.interval[1]:.0%}"
    return {
        "strategy": name,
        "n": str(n),
        "solved": share(summary.success),
        "95%": interval,
        "Path": share(summary.path),
        "Precision": share(summary.precision),
        "CP": share(summary.cp),
        "tokens": mean(summary.input_tokens + summary.output_tokens),
        "cached": mean(summary.cached_tokens),
        "model calls": mean(summary.model_calls, 1),
        "calls": mean(summary.calls, 1),
        "s": mean(summary.seconds_total, 1),
        "USD": "–" if summary.cost is None else mean(summary.cost, 4),
    }
