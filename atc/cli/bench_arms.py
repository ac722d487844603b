"""Several ways to answer the same questions: a file of rows each, asked side by side, and the figures of all."""

from __future__ import annotations

import hashlib
import json
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import click

from atc import __version__
from atc.cli.options import StrategyType, json_option, several
from atc.cli.output import print_json, print_text, say
from atc.cli.progress import bar
from atc.config import Config, public
from atc.models.prices import Price
from atc.strategies import STRATEGIES
from toolflow_bench.columns import columns
from toolflow_bench.metrics import Row, Summary, summarize
from toolflow_bench.resampling import Estimate
from toolflow_bench.rows import Header, read_rows
from toolflow_bench.runner import Item, OpenWorker, digest, run_suite

_Verb = TypeVar("_Verb", bound=Callable[..., Any])

ALL = "all"
"""Stands for every strategy."""
_SHORT_TURN = 10.0
"""Seconds. Arms that are all asked within less take longer turns."""
_SETTINGS = (
    *("strategy", "sandbox", "max_tools", "prompt_tokens", "samples", "max_repairs", "max_calls", "max_tokens"),
    *("max_model_calls", "repair", "decoding", "docs", "temperature"),
)
"""Of the configuration: what changes results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a suite is run, whatever it asks: the options of `run_options`."""

    limit: int | None
    jobs: int
    seed: int
    timeout: float
    repeats: int
    out: Path | None
    restart: bool
    as_json: bool


_SECONDS = click.FloatRange(0, min_open=True)
run_options = several(
    click.option("--limit", type=click.IntRange(1), metavar="N", help="The first N questions only."),
    click.option(
        "--jobs", type=click.IntRange(1, 64), default=1, show_default=True, metavar="N", help="Asked at once."
    ),
    click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="What random choices start from."),
    click.option(
        "--timeout", type=_SECONDS, default=180.0, show_default=True, metavar="S", help="Seconds for one question."
    ),
    click.option(
        "--repeats",
        type=click.IntRange(1, 100),
        default=1,
        show_default=True,
        metavar="K",
        help="Ask each question K times, with other seeds for the model.",
    ),
    click.option(
        "--out", type=click.Path(path_type=Path), metavar="FILE", help="File of rows, continued if it is there."
    ),
    click.option("--restart", is_flag=True, help="Empty --out first."),
    json_option,
)
"""The options of every suite of questions; `RunOptions` takes them."""


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
    """One way to answer a suite: who answers, with which model, at what price. `settings` are the suite's own."""

    name: str
    model: str
    config: Config
    open_worker: OpenWorker
    price: Price | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What came of an arm: its rows, in the order of the questions, and the file that has them."""

    arm: Arm
    path: Path
    rows: Sequence[Row]


def ask_arms(suite: str, items: Sequence[Item], arms: Sequence[Arm], options: RunOptions) -> list[Asked]:
    """Ask each arm the items, of which `--limit` takes the first; a run that was stopped goes on where it was.

    Several arms take turns, some questions each: a run that is stopped compares them all.
    """
    asked, alone = items[: options.limit], len(arms) == 1
    headers = [_header(suite, items, arm, options) for arm in arms]
    paths = [_path(arm, header, asked, options, alone) for arm, header in zip(arms, headers, strict=True)]
    times = f", {options.repeats} times each," if options.repeats > 1 else ""
    for arm, path in zip(arms, paths, strict=True):
        named = suite if alone else f"{suite}, {arm.name}"
        say(f"{named}: {len(asked)} questions{times} with {arm.model}; rows go to {path}")
    # In an order of their own: where several arms are stopped halfway, what they have is a fair sample.
    order = asked if alone else random.Random(options.seed).sample(asked, len(asked))  # noqa: S311 - not secrecy
    total, begun = len(arms) * len(asked) * options.repeats, 0
    found: list[dict[tuple[str, int], Row]] = [{} for _ in arms]
    try:
        with bar("asking", total=total) as advance:
            for turn, some in enumerate(_turns(order, len(order) if alone else options.jobs)):
                for arm, header, path, rows in zip(arms, headers, paths, found, strict=True):

                    def show(row: Row, done: int, _: int, begun: int = begun, name: str = arm.name) -> None:
                        say(_row_line(row, begun + done, total, "" if alone else name))
                        advance(begun + done)

                    answered = run_suite(
                        some,
                        arm.open_worker,
                        header=header,
                        out=path,
                        restart=options.restart and not turn,
                        jobs=options.jobs,
                        repeats=options.repeats,
                        timeout_seconds=options.timeout,
                        price=arm.price,
                        on_row=show,
                    )
                    rows |= {row.key: row for row in answered}
                    begun += len(some) * options.repeats
    except KeyboardInterrupt:
        say(f"Stopped; the same command goes on{': give it the same --out' if options.out else ''}.")
        raise
    keys = [(item.question.id, repeat) for repeat in range(options.repeats) for item in asked]
    return [
        Asked(arm=arm, path=path, rows=[rows[key] for key in keys])
        for arm, path, rows in zip(arms, paths, found, strict=True)
    ]


def _header(suite: str, items: Sequence[Item], arm: Arm, options: RunOptions) -> Header:
    """What must be the same for a run to go on."""
    every: Mapping[str, Any] = public(arm.config)
    settings = {**{key: every[key] for key in _SETTINGS}, "timeout": options.timeout, **arm.settings}
    return Header(
        suite=suite,
        model=arm.model,
        seed=options.seed,
        data=digest([item.question for item in items]),
        version=__version__,
        settings=settings,
    )


def _path(arm: Arm, header: Header, asked: Sequence[Item], options: RunOptions, alone: bool) -> Path:
    """`--out`, with the arm's name in it where there are several; else the first unfinished file of the same run.

    The state folder keeps those, by what must be the same for a run to go on.
    """
    slug = re.sub(r"[^\w@]+", "-", arm.name).strip("-")
    if options.out is not None:
        return options.out if alone else options.out.with_stem(f"{options.out.stem}-{slug}")
    same = hashlib.sha256(json.dumps(asdict(header), sort_keys=True, default=repr).encode()).hexdigest()[:8]
    keys = {(item.question.id, repeat) for item in asked for repeat in range(options.repeats)}
    folder = arm.config.state_dir / "bench"
    every = (folder / f"{header.suite}-{same}-{number}-{slug}.jsonl" for number in count(1))
    return next(
        path for path in every if not path.exists() or keys - {row.key for row in read_rows(path)[1] if row.graded}
    )


def _turns(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    """The items, `size` at a time; more where that took no time, since workers are opened anew for each turn."""
    begin = 0
    while begin < len(items):
        since = time.monotonic()
        yield items[begin : begin + size]
        begin += size
        size *= 2 if time.monotonic() - since < _SHORT_TURN else 1


def _row_line(row: Row, done: int, total: int, name: str) -> str:
    verdict = "right" if row.correct else "wrong" if row.graded else row.status
    named = f"{name:<8} " if name else ""
    figures = f"{row.seconds:6.1f} s  {row.calls:>3} calls"
    return f"{done:>3}/{total}  {named}{verdict:<6} {figures}  {row.id}: {row.error or row.reason}"


def measure(suite: str, items: Sequence[Item], arms: Sequence[Arm], options: RunOptions) -> int:
    """Ask, watched by the person, and print the figures. Gives the exit status: 3 where outages are left."""
    found = [(one, summarize(one.rows, seed=options.seed)) for one in ask_arms(suite, items, arms, options)]
    if options.as_json:
        shown = [
            {"suite": suite, "model": one.arm.model, "strategy": one.arm.name, "rows": str(one.path)}
            | summary.as_json()
            for one, summary in found
        ]
        print_json(shown[0] if len(arms) == 1 else {"suite": suite, "strategies": shown})
    elif len(arms) == 1:
        print_text("\n".join(_lines(found[0][1])))
    else:
        rows = [_cells(one.arm.name, summary) for one, summary in found]
        heads = [head for head in rows[0] if head != "USD" or any(summary.cost is not None for _, summary in found)]
        print_text("\n".join(columns([heads, *([row[head] for head in heads] for row in rows)])))
        say(f"A page: atc bench report {' '.join(str(one.path) for one, _ in found)}")
    return 3 if any(summary.ungraded for _, summary in found) else 0


def _lines(summary: Summary) -> list[str]:
    """The figures of one arm."""
    left = f"not graded: {summary.outages} outages, {summary.crashes} crashes; the same command asks these again"
    if summary.share is None or summary.interval is None:
        return ["no question was graded", left]
    low, high = summary.interval
    waits = f"{summary.seconds_total:.0f} in all, {summary.model_seconds_total:.0f} waiting for the model"
    work = f"{summary.calls:,} calls, {summary.repairs:,} repairs, {summary.model_calls:,} replies"
    shown = {
        "solved": f"{summary.solved} of {summary.graded} ({summary.share:.0%}, 95% interval {low:.0%} to {high:.0%})",
        "by calls": _shares(summary.by_calls),
        "by depth": summary.by_difficulty and f"{_shares(summary.by_difficulty)} (depth times distinct tools)",
        "pass^k": ", ".join(f"{k}: {_percent(one)}" for k, one in summary.pass_k.items()),
    }
    if summary.path and summary.precision and summary.cp:  # suites with gold paths have these
        named = {"Path": summary.path, "Precision": summary.precision, "CP": summary.cp}
        shown |= {
            "by tasks": _shares({**summary.by_split, **summary.by_service}),
            "paths": ", ".join(f"{name} {_percent(rate)}" for name, rate in named.items()),
            "failures": ", ".join(f"{name} {number}" for name, number in summary.failures.items()) or "none",
            "writes": f"{summary.repeated_writes:,} repeated, {summary.orphaned_writes:,} orphaned",
            "cost": "unknown: no price for this model; set model_price"
            if summary.cost is None
            else f"${summary.cost:.4f}",
        }
    shown |= {
        "seconds": f"median {summary.seconds_median:.1f}, longest {summary.seconds_max:.1f}, {waits}",
        "took": f"{work}, {summary.input_tokens:,} tokens in, {summary.output_tokens:,} out",
    }
    told = [f"{name:<8} {line}" for name, line in shown.items() if line]
    return [*told, left] if summary.ungraded else told


def _percent(rate: Estimate) -> str:
    return f"{rate.mean:.0%} ({rate.low:.0%} to {rate.high:.0%})"


def _shares(shares: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}: {share.solved}/{share.graded}" for name, share in shares.items())


def _cells(name: str, summary: Summary) -> dict[str, str]:
    """A row of the table of several arms: shares of tasks, then what a task took on average."""
    n = summary.graded

    def mean(total: float, digits: int = 0) -> str:
        return f"{total / n:,.{digits}f}" if n else "–"

    def share(found: Estimate | None) -> str:
        return "–" if found is None else f"{found.mean:.0%}"

    return {
        "strategy": name,
        "n": str(n),
        "solved": share(summary.success),
        "95%": "–" if summary.interval is None else "{:.0%}–{:.0%}".format(*summary.interval),
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
