"""`atc bench`: how many questions of a suite are solved, and what it takes."""

from __future__ import annotations

from difflib import get_close_matches

import click

from atc.cli.lazy import LazyGroup
from atc.cli.options import json_option
from atc.cli.output import print_columns, print_json

_SUITES = {
    "flights": "24 questions of travellers and analysts about the flights that left New York in 2013",
    "toolflow": "587 tasks of several calls over four services on real data, 60 that branch and 20 that cannot be done",
}


class Suites(LazyGroup):
    """A verb for each suite, since what can be said about a measurement depends on what is measured."""

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
        "fresh": ("atc.cli.bench_tasks:fresh", "Draw new tasks of ToolFlow, with answers derived twice."),
        "check": ("atc.cli.bench_tasks:check", "Derive every gold answer of ToolFlow anew, twice."),
        "serve": ("atc.cli.bench_serve:serve", "Serve ToolFlow's services on this machine."),
    },
)
def bench() -> None:
    """Measure how many tasks are solved and at what cost."""


@click.group(
    "run",
    cls=Suites,
    verbs={
        "toolflow": ("atc.cli.bench_run:toolflow", "Solve ToolFlow's tasks: 4 services, real data, graded by program."),
        "flights": ("atc.cli.bench_run:flights", "Ask the questions about flights and grade the answers."),
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
    if as_json:
        print_json([{"name": name, "summary": summary} for name, summary in _SUITES.items()])
    else:
        print_columns(_SUITES.items())
