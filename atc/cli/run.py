"""`atc run`: solve a task."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Any

import click

from atc.agent import readable
from atc.cli.options import (
    allow_writes_option,
    budget_options,
    decoding_options,
    endpoint_options,
    json_option,
    learn_option,
    model_option,
    on_unknown_option,
    sandbox_option,
    servers_options,
    strategy_option,
    tools_option,
    trust_option,
    yes_option,
)
from atc.cli.output import print_json, print_text, read_stdin, say
from atc.cli.settings import load_config
from atc.cli.solving import solve, watched
from atc.strategies import read

_EPILOG = """\b
Examples:
  atc run "How many flights left JFK for Boston on 4 July 2013?"
  atc run "Close my oldest open ticket" --tools https://example.org/openapi.json --allow-writes close_ticket
  echo "Who flies to Denver?" | atc run - --json
"""


@click.command(epilog=_EPILOG)
@click.argument("task")
@tools_option
@servers_options
@model_option
@endpoint_options
@strategy_option
@sandbox_option
@decoding_options
@click.option("--policy/--no-policy", default=None, help="Review each program's source before it runs.")
@allow_writes_option
@trust_option
@learn_option
@on_unknown_option
@yes_option
@click.option("--dry-run", is_flag=True, help="Choose tools, write and check the program; call nothing.")
@click.option("--max-calls", type=click.IntRange(0), metavar="N", help="Tool calls of one execution (500).")
@budget_options
@json_option
@click.help_option("-h", "--help")
def run(task: str, *, yes: bool, dry_run: bool, as_json: bool, **flags: Any) -> None:
    """Solve TASK ('-' reads it from stdin) by one program over the given tools.

    The answer goes to stdout, what happens to stderr. Exit status: 0 solved, 1 failed or paused, 2 wrong usage,
    3 something is missing or down, 130 interrupted.
    """
    config, _ = load_config(flags)
    if dry_run and not read(config.strategy)[0].writes_programs:
        raise click.UsageError(f"--dry-run shows a program; {config.strategy} writes none before it calls: use chain.")
    task = readable(read_stdin() if task == "-" else task)
    if not dry_run:
        solve(config, lambda agent, view: agent.run(task, observer=view), yes=yes, as_json=as_json)
    with watched(config, yes=yes, warm=False) as (agent, view):
        tools, program, findings = agent.draft(task, observer=view)
    if as_json:
        source = program.source if program else None
        print_json({"tools": list(tools), "program": source, "findings": [asdict(found) for found in findings]})
    elif program is not None:
        print_text(program.source.rstrip("\n"))
        for found in findings:
            say(f"line {found.line}: {found.message}")
    sys.exit(0 if program is not None and not findings else 1)
