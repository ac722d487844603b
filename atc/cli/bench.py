"""`atc bench`: how many questions of a suite are solved, and what it takes. The suite `sandbox` stands apart."""

from __future__ import annotations

import sys
from dataclasses import replace
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

_EPILOG = """\b
Examples:
  atc bench run flights --model local
  atc bench run flights --limit 4 --json
"""


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


@click.group(
    cls=LazyGroup,
    verbs={
        "list": ("atc.cli.bench:list_", "The suites."),
        "run": ("atc.cli.bench:run", "Measure with a suite."),
        "data": ("atc.cli.bench_data:data", "Make training data for planners, and queries to measure with."),
        "report": ("atc.cli.bench_report:report", "Compare runs on one page of HTML."),
        "check": ("atc.cli.bench_check:check", "Derive every gold answer of ToolFlow anew, twice."),
        "serve": ("atc.cli.bench_serve:serve", "Serve ToolFlow's services on this machine."),
    },
)
def bench() -> None:
    """Measure how many tasks are solved and at what cost, and how sandboxes hold."""


@click.command("list", epilog="Example: atc bench list --json")
@json_option
def list_(*, as_json: bool) -> None:
    """The suites."""
    from toolflow_bench.suites import SUMMARIES

    if as_json:
        print_json([{"name": name, "summary": summary} for name, summary in SUMMARIES.items()])
    else:
        print_columns(SUMMARIES.items())


@click.group(
    "run",
    cls=Suites,
    verbs={
        "toolflow": (
            "atc.cli.bench_toolflow:toolflow",
            "Solve ToolFlow's tasks: 4 services, real data, graded by program.",
        ),
        "restbench": (
            "atc.cli.bench_restbench:restbench",
            "Solve RestBench's tasks against mocks of TMDB and Spotify.",
        ),
        "flights": ("atc.cli.bench:flights", "Ask the questions about flights and grade the answers."),
        "repair": ("atc.cli.bench_repair:repair", "Compare ways of repair on the same faulty programs."),
        "blame": ("atc.cli.bench_blame:blame", "Break programs and services; see whom attribution blames."),
        "kills": ("atc.cli.bench_kills:kills", "Kill hosts in the middle of writing runs, and resume the runs."),
        "injection": ("atc.cli.bench_injection:injection", "Attack by what tools say; count what reaches a service."),
        "retrieval": (
            "atc.cli.bench_retrieval:retrieval",
            "Compare methods of search: do they find the tools that a query needs?",
        ),
        "decoding": (
            "atc.cli.bench_decoding:decoding",
            "Compare free and constrained decoding of calls.",
        ),
        "probing": ("atc.cli.bench_probing:probing", "Probe undocumented tools; score what is found by the truth."),
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
@strategy_option
@run_options
def flights(*, data: Path | None, model: str | None, strategy: str | None, tools: tuple[str, ...], **run: Any) -> None:
    """Ask the questions about flights and grade the answers.

    Each answer is one line of a file; a run that was stopped goes on where it was when the same command is given
    again. What fails on our side (a model that is down) is counted apart and asked again. Exit status 3 if any is left.
    """
    from toolflow_bench.prices import price_of
    from toolflow_bench.runner import Item
    from toolflow_bench.suites import find_suite
    from toolflow_bench.workers import shared_agent

    options = RunOptions(**run)
    chosen = find_suite("flights")
    questions = chosen.load(data)
    config = load_config({"model": model, "strategy": strategy, "tools": tools})[0]
    config = replace(config, tools=config.tools or chosen.tools)
    with open_agent(config, talk=say, progress=told_in_tenths()) as agent:
        name = agent.ask.name
        header = make_header(chosen.name, questions, config, model=name, options=options, tools=list(config.tools))
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
