"""`atc run`: solve a task."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Any

import click

from atc.agent import readable
from atc.cli.output import escape_controls, stderr_console
from atc.cli.settings import load_config
from atc.cli.view import RunView
from atc.cli.wiring import open_agent
from atc.types import Solution
from protocols.jsontypes import JsonObject
from protocols.toolbox import Tool

_EPILOG = """\b
Examples:
  atc run "How many flights left JFK for Boston on 4 July 2013?"
  atc run "Close my oldest open ticket" --tools https://example.org/openapi.json --allow-writes close_ticket
  echo "Who flies to Denver?" | atc run - --json
"""


@click.command(epilog=_EPILOG)
@click.argument("task")
@click.option(
    "--tools", multiple=True, metavar="SRC", help="OpenAPI file or URL, protocol folder, Python module. Repeatable."
)
@click.option("--model", metavar="NAME", help="'local', a model of the endpoint, or a .gguf file.")
@click.option("--strategy", type=click.Choice(["auto", "chain"]), help="How the program is come by.")
@click.option("--sandbox", metavar="NAME", help="What runs the program: auto, zygote, docker, monty or trusted.")
@click.option("--policy/--no-policy", default=None, help="Review each program's source before it runs.")
@click.option(
    "--allow-writes", multiple=True, metavar="TOOL", help="Tool that may change something, or 'all'. Repeatable."
)
@click.option("--yes", is_flag=True, help="Answer questions about writes with yes.")
@click.option("--dry-run", is_flag=True, help="Choose tools, write and check the program; call nothing.")
@click.option("--max-calls", type=click.IntRange(0), metavar="N", help="Tool calls of one execution (500).")
@click.option("--max-tokens", type=click.IntRange(1), metavar="N", help="Model tokens of the run.")
@click.option("--max-seconds", type=click.FloatRange(0, min_open=True), metavar="S", help="Wall time of the run.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole solution as JSON.")
@click.help_option("-h", "--help")
def run(task: str, *, yes: bool, dry_run: bool, as_json: bool, **flags: Any) -> None:
    """Solve TASK ('-' reads it from stdin) by one program over the given tools.

    The answer goes to stdout, what happens to stderr. Exit status: 0 solved, 1 failed or paused, 2 wrong usage,
    3 something is missing or down, 130 interrupted.
    """
    config, _ = load_config(flags)
    task = readable(sys.stdin.read() if task == "-" else task)
    console = stderr_console()
    view = RunView(console)

    def ask_person(tool: Tool, arguments: JsonObject) -> bool:
        return yes or _asked(view, tool, arguments)

    can_ask = yes or (sys.stdin.isatty() and console.is_terminal)
    with (
        view,
        open_agent(config, talk=view.say, progress=view.progress, ask_person=ask_person if can_ask else None) as agent,
    ):
        if dry_run:
            tools, program, findings = agent.draft(task, observer=view)
            _print_draft(
                list(tools), program.source if program else None, [asdict(f) for f in findings], as_json=as_json
            )
            sys.exit(0 if program is not None and not findings else 1)
        solution = agent.run(task, observer=view)
    if as_json:
        click.echo(
            json.dumps(
                asdict(solution) | {"calls": solution.calls, "repairs": solution.repairs},
                ensure_ascii=False,
                default=repr,
            )
        )
    elif solution.answer is not None:
        click.echo(escape_controls(solution.answer, keep_newlines=True))
    _conclude(solution, view)
    sys.exit(0 if solution.status == "solved" else 1)


def _conclude(solution: Solution, view: RunView) -> None:
    """The last line on stderr: how it ended, what it took, where to look."""
    took = (
        f"{solution.seconds:.1f} s ({solution.usage.model_seconds:.1f} s model), {solution.calls} calls,"
        f" {solution.repairs} repairs, {solution.usage.input_tokens + solution.usage.output_tokens} tokens"
    )
    where = f" · run {solution.run}" if solution.run else ""
    view.line(solution.status, took + where, "green" if solution.status == "solved" else "red")
    if solution.status == "solved":
        return
    last = solution.attempts[-1] if solution.attempts else None
    if last is not None and last.paused and last.trace is not None and last.trace.failure is not None:
        view.say(f"{last.trace.failure.message} Then run the task again.")
    elif solution.limit:
        view.say(f"The run's budget is spent: {solution.limit}. Raise it, or ask for less.")
    elif last is not None and last.fault is not None:
        view.say(last.fault.message)
        if last.fault.kind == "unknown_outcome":
            view.say(last.fault.evidence[-1])
    if solution.run and solution.status == "failed":
        view.say(f"See every attempt with: atc runs show {solution.run}")


def _asked(view: RunView, tool: Tool, arguments: JsonObject) -> bool:
    shown = json.dumps(dict(arguments), ensure_ascii=False, indent=2)
    with view.interrupted():
        click.echo(
            escape_controls(f"{tool.alias} may change something. Arguments:\n{shown}", keep_newlines=True), err=True
        )
        return click.confirm("Send it?", default=False, err=True)


def _print_draft(tools: list[str], program: str | None, findings: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"tools": tools, "program": program, "findings": findings}, ensure_ascii=False))
    elif program is not None:
        click.echo(escape_controls(program, keep_newlines=True), nl=False)
    for finding in [] if as_json else findings:
        click.echo(f"line {finding['line']}: {finding['message']}", err=True)
