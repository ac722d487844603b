"""`atc bench`: how many questions of a suite are solved, and what it takes. The suite `sandbox` stands apart."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import click

from atc.cli.lazy import LazyGroup
from atc.cli.models import told_in_tenths
from atc.cli.options import json_option, model_option, tools_option
from atc.cli.output import escape_controls, print_columns, print_json, print_text, say
from atc.cli.settings import load_config
from atc.cli.wiring import open_agent
from atc.config import Config, public

if TYPE_CHECKING:
    from toolflow_bench.metrics import Row, Summary
    from toolflow_bench.rows import Header
    from toolflow_bench.suites import Suite
    from toolflow_bench.task import Question

_EPILOG = """\b
Examples:
  atc bench run flights --model local
  atc bench run flights --limit 4 --json
"""
_SETTINGS = ("strategy", "sandbox", "max_tools", "samples", "votes", "max_repairs", "max_calls", "max_tokens")


class Suites(LazyGroup):
    """A verb for each suite, since what can be said about a measurement depends on what is measured."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does; options may stand before the suite too."""
        place = next((index for index, word in enumerate(args) if word in self.verbs), 0)
        return super().parse_args(ctx, [*args[place : place + 1], *args[:place], *args[place + 1 :]])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, but an unknown name is a suite's."""
        if args[0] not in self.verbs and not args[0].startswith("-"):
            from toolflow_bench.suites import find_suite

            find_suite(args[0])
        return super().resolve_command(ctx, args)


@click.group()
def bench() -> None:
    """Measure how many questions are solved, and how sandboxes hold."""


@bench.command("list", epilog="Example: atc bench list --json")
@json_option
def list_(*, as_json: bool) -> None:
    """The suites."""
    from toolflow_bench.suites import SUMMARIES

    if as_json:
        print_json([{"name": name, "summary": summary} for name, summary in SUMMARIES.items()])
    else:
        print_columns(SUMMARIES.items())


@bench.group(
    cls=Suites,
    verbs={
        "flights": ("atc.cli.bench:flights", "Ask the questions about flights and grade the answers."),
        "sandbox": (
            "atc.cli.bench_sandbox:sandbox",
            "Run programs in every sandbox and see what holds and what it costs.",
        ),
    },
    subcommand_metavar="SUITE [OPTIONS]",
    no_args_is_help=True,
)
def run() -> None:
    """Measure with SUITE; 'atc bench run SUITE --help' shows its options."""


@click.command(epilog=_EPILOG)
@click.option("--data", type=click.Path(path_type=Path), metavar="FILE", help="Questions, one JSON object a line.")
@tools_option
@model_option
@click.option("--strategy", type=click.Choice(["auto", "chain"]), help="How a program is come by.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="The first N questions only.")
@click.option("--jobs", type=click.IntRange(1, 64), default=1, show_default=True, metavar="N", help="Asked at once.")
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="What random choices start from.")
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=180.0,
    show_default=True,
    metavar="S",
    help="Seconds for one question.",
)
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="File of rows, continued if it is there.")
@click.option("--restart", is_flag=True, help="Empty --out first.")
@json_option
def flights(
    *,
    data: Path | None,
    limit: int | None,
    jobs: int,
    seed: int,
    timeout: float,
    out: Path | None,
    restart: bool,
    as_json: bool,
    **flags: Any,
) -> None:
    """Ask the questions about flights and grade the answers.

    Each answer is one line of a file; a run that was stopped goes on where it was when the same command is given
    again. What fails on our side (a model that is down) is counted apart and asked again. Exit status 3 if any is left.
    """
    from toolflow_bench.metrics import summarize
    from toolflow_bench.runner import run_suite
    from toolflow_bench.suites import find_suite

    chosen = find_suite("flights")
    questions = chosen.load(data)
    config = load_config(flags)[0]
    config = replace(config, tools=config.tools or chosen.tools)
    with open_agent(config, talk=say, progress=told_in_tenths()) as agent:
        header = _header(chosen, questions, config, model=agent.ask.name, seed=seed, timeout=timeout)
        wanted = questions[:limit]
        path = out or _own_file(config, header, wanted)
        say(f"{chosen.name}: {len(wanted)} questions with {header.model}; rows go to {path}")
        options: dict[str, Any] = {"restart": restart, "jobs": jobs, "timeout_seconds": timeout}
        try:
            with _Watch() as watch:
                rows = run_suite(wanted, agent.run, header=header, out=path, on_row=watch, **options)
        except KeyboardInterrupt:
            say(f"Stopped; the same command with --out {path} goes on.")
            raise
    summary = summarize(rows, seed=seed)
    if as_json:
        print_json({"suite": chosen.name, "model": header.model, "rows": str(path)} | summary.as_json())
    else:
        print_text("\n".join(_lines(summary)))
    sys.exit(3 if summary.outages or summary.crashes else 0)


def _header(
    suite: Suite, questions: Sequence[Question], config: Config, *, model: str, seed: int, timeout: float
) -> Header:
    from atc import __version__
    from toolflow_bench.rows import Header
    from toolflow_bench.runner import digest

    settings: Mapping[str, Any] = public(config)
    kept = {key: settings[key] for key in (*_SETTINGS, "temperature", "tools")}
    return Header(
        suite=suite.name,
        model=model,
        seed=seed,
        data=digest(questions),
        version=__version__,
        settings=kept | {"timeout": timeout},
    )


def _own_file(config: Config, header: Header, wanted: Sequence[Question]) -> Path:
    """The newest unfinished file of the same run in the state folder, else a new one."""
    from toolflow_bench.rows import InvalidRunFile, read_rows, same_header

    folder = config.state_dir / "bench"
    for path in sorted(folder.glob(f"{header.suite}-*.jsonl"), reverse=True):
        try:
            found, rows = read_rows(path)
        except InvalidRunFile:
            continue
        done = {row.id for row in rows if row.graded}
        if same_header(found, header) and any(question.id not in done for question in wanted):
            return path
    stem = f"{header.suite}-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}"
    names = (f"{stem}{suffix}.jsonl" for suffix in chain([""], (f"-{number}" for number in count(2))))
    return next(folder / name for name in names if not (folder / name).exists())


def _lines(summary: Summary) -> list[str]:
    """The summary for people."""
    if summary.share is None or summary.interval is None:
        return ["no question was graded", _left(summary)]
    low, high = summary.interval
    classes = ", ".join(f"{name}: {share.solved}/{share.graded}" for name, share in summary.by_calls.items())
    waits = f"{summary.seconds_total:.0f} in all, {summary.model_seconds_total:.0f} waiting for the model"
    work = f"{summary.calls:,} calls, {summary.repairs:,} repairs, {summary.model_calls:,} replies"
    lines = [
        f"solved   {summary.solved} of {summary.graded} ({summary.share:.0%}, 95% interval {low:.0%} to {high:.0%})",
        f"by calls {classes}",
        f"seconds  median {summary.seconds_median:.1f}, longest {summary.seconds_max:.1f}, {waits}",
        f"took     {work}, {summary.input_tokens:,} tokens in, {summary.output_tokens:,} out",
    ]
    return [*lines, _left(summary)] if summary.outages or summary.crashes else lines


def _left(summary: Summary) -> str:
    return f"not graded: {summary.outages} outages, {summary.crashes} crashes; the same command asks these again"


class _Watch:
    """Shows each row as it comes: a bar with an estimate on a terminal, a line a question otherwise."""

    def __init__(self) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        from atc.cli.output import stderr_console

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=stderr_console(),
            disable=not sys.stderr.isatty(),
        )
        self._task = self._bar.add_task("asking", total=None)
        self._right = 0

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def __call__(self, row: Row, done: int, total: int) -> None:
        self._right += row.correct
        verdict = "right" if row.correct else "wrong" if row.graded else row.status
        why = row.error or row.reason
        line = f"{done:>3}/{total}  {verdict:<6} {row.seconds:6.1f} s  {row.calls:>3} calls  {row.id}: {why}"
        self._bar.console.print(escape_controls(line), soft_wrap=True)
        self._bar.update(self._task, completed=done, total=total, description=f"{self._right} right")
