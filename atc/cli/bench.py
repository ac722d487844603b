"""`atc bench`: how many questions of a suite are solved, and what it takes."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from atc.cli.bench_arms import Arm, measure
from atc.cli.bench_run import RunOptions, make_header, run_options
from atc.cli.lazy import LazyGroup
from atc.cli.models import told_in_tenths
from atc.cli.options import json_option, model_option, strategy_option, tools_option
from atc.cli.output import print_columns, print_json, say
from atc.cli.settings import load_config
from atc.cli.wiring import open_agent
from atc.models.prices import price_of
from toolflow_bench.runner import Item
from toolflow_bench.suites.flights import load
from toolflow_bench.workers import shared_agent

_EPILOG = """\b
Examples:
  atc bench run flights --model local
  atc bench run flights --limit 4 --json
"""
_SUITES = {
    "flights": "24 questions of travellers and analysts about the flights that left New York in 2013",
    "toolflow": "587 tasks of several calls over four services on real data, 60 that branch and 20 that cannot be done",
}


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
            near = get_close_matches(args[0], self.verbs, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there is {', '.join(self.verbs)}."
            raise click.UsageError(f"no suite named {args[0]!r}; {hint}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=LazyGroup,
    verbs={
        "list": ("atc.cli.bench:list_", "The suites."),
        "run": ("atc.cli.bench:run", "Measure with a suite."),
        "report": ("atc.cli.bench_report:report", "Compare runs on one page of HTML."),
        "fresh": ("atc.cli.bench_fresh:fresh", "Draw new tasks of ToolFlow, with answers derived twice."),
        "check": ("atc.cli.bench_check:check", "Derive every gold answer of ToolFlow anew, twice."),
        "serve": ("atc.cli.bench_serve:serve", "Serve ToolFlow's services on this machine."),
    },
)
def bench() -> None:
    """Measure how many tasks are solved and at what cost."""


@click.command("list", epilog="Example: atc bench list --json")
@json_option
def list_(*, as_json: bool) -> None:
    """The suites."""
    if as_json:
        print_json([{"name": name, "summary": summary} for name, summary in _SUITES.items()])
    else:
        print_columns(_SUITES.items())


@click.group(
    "run",
    cls=Suites,
    verbs={
        "toolflow": (
            "atc.cli.bench_toolflow:toolflow",
            "Solve ToolFlow's tasks: 4 services, real data, graded by program.",
        ),
        "flights": ("atc.cli.bench:flights", "Ask the questions about flights and grade the answers."),
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
@strategy_option
@run_options
def flights(*, data: Path | None, model: str | None, strategy: str | None, tools: tuple[str, ...], **run: Any) -> None:
    """Ask the questions about flights and grade the answers.

    Each answer is one line of a file; a run that was stopped goes on where it was when the same command is given
    again. What fails on our side (a model that is down) is counted apart and asked again. Exit status 3 if any is left.
    """
    options = RunOptions(**run)
    questions = load(data)
    config = load_config({"model": model, "strategy": strategy, "tools": tools})[0]
    with open_agent(config, talk=say, progress=told_in_tenths()) as agent:
        name = agent.ask.name
        header = make_header("flights", questions, config, model=name, options=options, tools=list(config.tools))
        items = [Item(question=question) for question in questions]
        arm = Arm.of(
            config.strategy,
            shared_agent(agent),
            header=header,
            config=config,
            options=options,
            items=items,
            alone=True,
            price=price_of(name),
        )
        status = measure(items, [arm], options=options)
    sys.exit(status)
