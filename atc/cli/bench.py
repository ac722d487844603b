"""`atc bench`: how many questions of a suite are solved, and what it takes."""

from __future__ import annotations

import click

from atc.cli.lazy import LazyGroup
from atc.cli.options import json_option
from atc.cli.output import print_columns, print_json


@click.group(
    cls=LazyGroup,
    verbs={
        "list": ("atc.cli.bench:list_", "The suites."),
        "run": ("atc.cli.bench:run", "Measure with a suite."),
        "report": ("atc.cli.bench_report:report", "Compare runs on one page of HTML."),
        "fresh": ("atc.cli.bench_tasks:fresh", "Draw new tasks of ToolFlow, with answers derived twice."),
        "check": ("atc.cli.bench_tasks:check", "Derive every gold answer of ToolFlow anew, twice."),
        "serve": ("atc.cli.bench_serve:serve", "Serve ToolFlow's services on this machine."),
    },
)
def bench() -> None:
    """Measure how many tasks are solved and at what cost."""


@click.group(
    "run",
    cls=LazyGroup,
    verbs={
        "toolflow": ("atc.cli.bench_run:toolflow", "587 tasks over four services on real data, graded by program."),
        "flights": ("atc.cli.bench_run:flights", "24 questions about the flights that left New York in 2013."),
    },
    subcommand_metavar="SUITE [OPTIONS]",
    no_args_is_help=True,
)
def run() -> None:
    """Measure with SUITE; 'atc bench run SUITE --help' shows its options."""


@click.command("list", epilog="Example: atc bench list --json")
@json_option
def list_(*, as_json: bool) -> None:
    """The suites."""
    suites = {name: summary for name, (_, summary, *_) in run.verbs.items()}
    if as_json:
        print_json([{"name": name, "summary": summary} for name, summary in suites.items()])
    else:
        print_columns(suites.items())
