"""Several ways to answer the same questions: a file of rows each, and the figures of all in one table."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from atc import __version__
from atc.cli.options import AT_LEAST_ONE, FILE, POSITIVE, jobs_option, json_option, several
from atc.cli.output import print_json, print_text, say
from atc.cli.progress import bar
from atc.config import Config, public
from atc.models.prices import Price
from atc.side_by_side import Pool
from atc.strategies import STRATEGIES
from toolflow_bench.columns import columns
from toolflow_bench.metrics import Row, Summary, summarize
from toolflow_bench.resampling import Estimate
from toolflow_bench.rows import Header
from toolflow_bench.runner import Item, OpenWorker, digest, run_suite

_Verb = TypeVar("_Verb", bound=Callable[..., Any])

ALL = "all"
"""Stands for every strategy."""
_SETTINGS = (
    *("sandbox", "max_tools", "prompt_tokens", "samples", "max_repairs", "max_calls", "max_tokens"),
    *("max_model_calls", "repair", "decoding", "docs", "temperature"),
)
"""Of the configuration: what changes results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a suite is run, whatever it asks: the options of `run_options`."""

    limit: int | None
    jobs: int | None
    seed: int
    timeout: float
    repeats: int
    out: Path | None
    restart: bool
    as_json: bool


run_options = several(
    click.option("--limit", type=AT_LEAST_ONE, metavar="N", help="The first N questions only."),
    jobs_option,
    click.option("--seed", type=int, default=0, metavar="N", help="What random choices start from (0)."),
    click.option("--timeout", type=POSITIVE, default=180.0, metavar="S", help="Seconds for one question (180)."),
    click.option(
        "--repeats", type=click.IntRange(1, 100), default=1, metavar="K", help="Ask each question K times (1)."
    ),
    click.option("--out", type=FILE, metavar="FILE", help="File of rows, continued if it is there."),
    click.option("--restart", is_flag=True, help="Ask anew what was asked before."),
    json_option,
)
"""The options of every suite of questions; `RunOptions` takes them."""


def strategies_option(also: str) -> Callable[[_Verb], _Verb]:
    """`--strategy NAME`, repeatable; `also` explains names of the suite's own."""
    told = f"How a task is solved: {', '.join(STRATEGIES)}; '{ALL}' is each of these in turn. Repeatable. {also}"
    return click.option("--strategy", "strategies", multiple=True, metavar="NAME[:FLAG=VALUE,…]", help=told)


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


class Asked(NamedTuple):
    """What came of an arm: the file of its rows, and these in the order of the questions."""

    arm: Arm
    path: Path
    rows: Sequence[Row]


def ask_arms(suite: str, items: Sequence[Item], arms: Sequence[Arm], options: RunOptions, pool: Pool) -> list[Asked]:
    """Ask each arm the items, of which `--limit` takes the first; what was asked before is not asked again."""
    asked, alone = items[: options.limit], len(arms) == 1
    headers = [_header(suite, items, arm, options) for arm in arms]
    paths = [_path(arm, header, options, alone) for arm, header in zip(arms, headers, strict=True)]
    times = f", {options.repeats} times each," if options.repeats > 1 else ""
    each = len(asked) * options.repeats
    keys = [(item.question.id, repeat) for repeat in range(options.repeats) for item in asked]
    found: list[Asked] = []
    try:
        with bar("asking", total=len(arms) * each) as advance:
            for arm, header, path in zip(arms, headers, paths, strict=True):
                say(f"{suite}, {arm.name}: {len(asked)} questions{times} with {arm.model}; rows go to {path}")

                def show(row: Row, done: int, _: int, before: int = len(found) * each) -> None:
                    say(_row_line(row, done, each))
                    advance(before + done)

                rows = run_suite(
                    asked,
                    arm.open_worker,
                    header=header,
                    out=path,
                    restart=options.restart,
                    pool=pool,
                    repeats=options.repeats,
                    timeout_seconds=options.timeout,
                    price=arm.price,
                    on_row=show,
                )
                by_key = {row.key: row for row in rows}
                found.append(Asked(arm, path, [by_key[key] for key in keys]))
    except KeyboardInterrupt:
        say("Stopped; the same command goes on.")
        raise
    return found


def _header(suite: str, items: Sequence[Item], arm: Arm, options: RunOptions) -> Header:
    """What must be the same for a run to go on."""
    every: Mapping[str, Any] = public(arm.config)
    price = [arm.price.input, arm.price.output] if arm.price is not None else None
    own = {"strategy": arm.name, "price": price, "timeout": options.timeout, **arm.settings}
    return Header(
        suite=suite,
        model=arm.model,
        seed=options.seed,
        data=digest([item.question for item in items]),
        version=__version__,
        settings={key: every[key] for key in _SETTINGS} | own,
    )


def _path(arm: Arm, header: Header, options: RunOptions, alone: bool) -> Path:
    """`--out`, with the arm's name in it where there are several; else a file in the state folder for what is asked."""
    slug = re.sub(r"[^\w@]+", "-", arm.name).strip("-")
    if options.out is not None:
        return options.out if alone else options.out.with_stem(f"{options.out.stem}-{slug}")
    same = hashlib.sha256(json.dumps(asdict(header), sort_keys=True, default=repr).encode()).hexdigest()[:8]
    return arm.config.state_dir / "bench" / f"{header.suite}-{same}-{slug}.jsonl"


def _row_line(row: Row, done: int, total: int) -> str:
    verdict = "right" if row.correct else "wrong" if row.graded else row.status
    figures = f"{row.seconds:6.1f} s  {row.calls:>3} calls"
    return f"{done:>3}/{total}  {verdict:<6} {figures}  {row.id}: {row.error or row.reason}"


def measure(suite: str, items: Sequence[Item], arms: Sequence[Arm], options: RunOptions, pool: Pool) -> int:
    """Ask, watched by the person, and print the figures. Gives the exit status: 3 where outages are left."""
    found = [(one, summarize(one.rows, seed=options.seed)) for one in ask_arms(suite, items, arms, options, pool)]
    if options.as_json:
        shown = [
            {"suite": suite, "model": one.arm.model, "strategy": one.arm.name, "rows": str(one.path)}
            | summary.as_json()
            for one, summary in found
        ]
        print_json(shown[0] if len(arms) == 1 else {"suite": suite, "strategies": shown})
    else:
        rows = [_cells(one.arm.name, summary, options.repeats) for one, summary in found]
        print_text("\n".join(columns([list(rows[0]), *(list(row.values()) for row in rows)])))
        say(f"All figures on a page: atc bench report {' '.join(str(one.path) for one, _ in found)}")
    left = sum(summary.outages for _, summary in found), sum(summary.crashes for _, summary in found)
    if any(left):
        say("Not graded: {} outages, {} crashes; the same command asks these again.".format(*left))
    return 3 if any(left) else 0


def _cells(name: str, summary: Summary, repeats: int) -> dict[str, str]:
    """A row of the table: shares of tasks, then what a task took on average."""
    n = summary.graded

    def mean(total: float | None, digits: int = 0) -> str:
        return f"{total / n:,.{digits}f}" if n and total is not None else "–"

    def share(found: Estimate | None) -> str:
        return "–" if found is None else f"{found.mean:.0%}"

    return {
        "strategy": name,
        "n": str(n),
        "solved": share(summary.success),
        "95%": "–" if summary.interval is None else "{:.0%}–{:.0%}".format(*summary.interval),
        **({f"pass^{repeats}": share(summary.pass_k.get(repeats))} if repeats > 1 else {}),
        "Path": share(summary.path),
        "Precision": share(summary.precision),
        "CP": share(summary.cp),
        "tokens": mean(summary.input_tokens + summary.output_tokens),
        "model calls": mean(summary.model_calls, 1),
        "calls": mean(summary.calls, 1),
        "s": mean(summary.seconds_total, 1),
        "USD": mean(summary.cost, 4),
    }
