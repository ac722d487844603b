"""`atc run`: solve a task."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Any

import click

from atc.agent import readable
from atc.cli.asking import asker
from atc.cli.options import (
    decoding_options,
    endpoint_options,
    learn_option,
    on_unknown_option,
    servers_options,
    strategy_option,
    tools_option,
    trust_option,
)
from atc.cli.output import escape_controls, print_json, stderr_console
from atc.cli.settings import load_config
from atc.cli.solving import finish, resumable
from atc.cli.view import RunView
from atc.cli.wiring import open_agent
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
@click.option("--model", metavar="NAME", help="'local', a model of the endpoint, or a .gguf file.")
@endpoint_options
@strategy_option
@click.option("--sandbox", metavar="NAME", help="What runs the program: auto, zygote, docker, monty or trusted.")
@decoding_options
@click.option("--policy/--no-policy", default=None, help="Review each program's source before it runs.")
@click.option(
    "--allow-writes", multiple=True, metavar="TOOL", help="Tool that may change something, or 'all'. Repeatable."
)
@trust_option
@learn_option
@on_unknown_option
@click.option("--yes", is_flag=True, help="Answer questions about writes with yes.")
@click.option("--dry-run", is_flag=True, help="Choose tools, write and check the program; call nothing.")
@click.option("--max-calls", type=click.IntRange(0), metavar="N", help="Tool calls of one execution (500).")
@click.option("--max-tokens", type=click.IntRange(1), metavar="N", help="Model tokens of the run.")
@click.option("--max-model-calls", type=click.IntRange(1), metavar="N", help="Requests to the model.")
@click.option("--max-seconds", type=click.FloatRange(0, min_open=True), metavar="S", help="Wall time of the run.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole solution as JSON.")
@click.help_option("-h", "--help")
def run(task: str, *, yes: bool, dry_run: bool, as_json: bool, **flags: Any) -> None:
    """Solve TASK ('-' reads it from stdin) by one program over the given tools.

    The answer goes to stdout, what happens to stderr. Exit status: 0 solved, 1 failed or paused, 2 wrong usage,
    3 something is missing or down, 130 interrupted.
    """
    config, _ = load_config(flags)
    if dry_run and not read(config.strategy)[0].writes_programs:
        raise click.UsageError(f"--dry-run shows a program; {config.strategy} writes none before it calls: use chain.")
    task = readable(sys.stdin.read() if task == "-" else task)
    view = RunView(stderr_console())
    ask_person = asker(yes=yes, aside=view.interrupted)
    with view, open_agent(config, talk=view.say, progress=view.progress, ask_person=ask_person) as agent:
        if dry_run:
            tools, program, findings = agent.draft(task, observer=view)
            _print_draft(
                list(tools), program.source if program else None, [asdict(f) for f in findings], as_json=as_json
            )
            sys.exit(0 if program is not None and not findings else 1)
        with resumable(view):
            solution = agent.run(task, observer=view)
    finish(solution, view, agent.toolbox, as_json=as_json)


def _print_draft(tools: list[str], program: str | None, findings: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        print_json({"tools": tools, "program": program, "findings": findings})
    elif program is not None:
        click.echo(escape_controls(program, keep_newlines=True), nl=False)
    for finding in [] if as_json else findings:
        click.echo(f"line {finding['line']}: {finding['message']}", err=True)
