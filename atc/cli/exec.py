"""`atc exec`: run a program of the user's own over tools, without a model."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from atc.agent import Agent
from atc.cli import options, output
from atc.cli.earlier_runs import RepeatGuard, ask_on_terminal
from atc.cli.run import solve
from atc.cli.run_outcome import read_presentation
from atc.cli.tool_call import parse_json
from atc.core.task import read_context
from atc.core.types import Solution
from atc.observe.terminal_view import RunView
from atc.safety.unattended import ConsentMode
from atc.settings.reading import load_config
from atc.strategies.provided import is_open_to_doubt
from protocols.schema import Json

_LEAST_DIGITS = 8
"""Number of hexadecimal digits that tell programs from stdin apart in the list of runs."""

_INSIST = (
    "If the program is right and the response schema is wrong, run it all the same: the same"
    " command with --insist"
)


@click.command(
    "exec",
    cls=options.Verb,
    examples=[
        "atc exec report.py --arg origin=LGA --arg days:=7",
        "atc exec close.py --tools https://example.org/openapi.json --allow-writes close_ticket",
        "generate | atc exec - --tools openapi.json --quiet",
    ],
)
@click.argument("program")
@click.option(
    "--arg",
    "words",
    multiple=True,
    metavar="NAME=VALUE",
    help="A variable that the program reads: NAME=TEXT, or NAME:=JSON. Repeatable.",
)
@options.tools_options
@options.sandbox_option
@options.allow_writes_option
@options.trust_option
@options.consent_option
@options.learn_option
@options.on_unknown_option
@click.option(
    "--insist",
    is_flag=True,
    help="Run the program even if a response schema, which may be wrong, speaks against it.",
)
@options.now_option
@options.program_budget_options
@options.call_limit_options
@options.quiet_option
@options.answer_options
def exec_(
    program: str,
    *,
    words: tuple[str, ...],
    insist: bool,
    now: str | None,
    as_csv: bool,
    as_table: bool,
    values: bool,
    files: Path | None,
    consent: ConsentMode,
    **flags: Any,
) -> None:
    """Run PROGRAM ('-' reads stdin) over the given tools, without a model.

    The program is checked, runs in the sandbox, and is stored as a run, so that 'atc runs' shows,
    resumes and exports it. Its calls ask for consent as in 'atc run'. Only values of --arg count as
    yours: a recipient, address, command or amount that the program has as a literal asks. If the
    program comes from stdin, nobody is asked, and the run pauses instead.

    The answer goes to stdout, what happens to stderr. Exit status: 0 done, 1 failed, paused, or
    stopped by the check, 2 wrong usage, 3 something is missing or down, 130 interrupted.
    """
    style = read_presentation(as_csv=as_csv, as_table=as_table, values=values, files=files)
    config = load_config(flags)
    source = output.read_text(program)
    arguments = _read_arguments(words)
    context = read_context(now=now)  # a mistake is reported before tools are read
    name = _name_run(program, source, words)

    def begin(agent: Agent, view: RunView) -> Solution:
        guard = RepeatGuard(agent.store, agent.toolbox, ask_on_terminal(view.pause_status))
        guard.check_start(name)
        agent.before_write = guard.before_write
        return agent.execute(
            source, arguments=arguments, name=name, now=now, insist=insist, observer=view
        )

    solve(
        config,
        begin,
        consent=consent,
        context=context,
        style=style,
        with_model=False,
        advise=_advise,
    )


def _read_arguments(words: Sequence[str]) -> dict[str, Json]:
    """Return the arguments of a program, keyed by name. `words` are the values of --arg.

    Raises:
        click.UsageError: A word is neither NAME=VALUE nor NAME:=JSON, or a name is given twice.
    """
    arguments: dict[str, Json] = {}
    for word in words:
        name, equals, text = word.partition("=")
        plain = name.removesuffix(":")
        if not plain or not equals:
            raise click.UsageError(f"--arg {word[:40]!r}: write NAME=VALUE, or NAME:=JSON")
        if plain in arguments:
            raise click.UsageError(f"--arg {plain!r} is given twice; write a list as NAME:=JSON")
        arguments[plain] = text if plain == name else parse_json(text, plain)
    return arguments


def _name_run(program: str, source: str, words: Sequence[str]) -> str:
    """Return what the list of runs shows for a program and its arguments.

    Two runs of the same file with the same arguments have the same name, so that a repeated command
    does not send the writes of a failed run again.
    """
    digest = hashlib.sha256(source.encode(errors="replace")).hexdigest()[:_LEAST_DIGITS]
    shown = f"stdin:{digest}" if program == "-" else Path(program).name
    return f"exec {shlex.join([shown, *words])}"


def _advise(agent: Agent, solution: Solution) -> list[str]:
    """Return what the user can do about a program that the check has stopped."""
    last = solution.attempts[-1] if solution.attempts else None
    if last is None or not last.findings:
        return []
    if is_open_to_doubt(last.findings, last.program, agent.toolbox):
        return [_INSIST]
    if any(found.code == "undefined-name" for found in last.findings):
        return ["A variable that the program only reads is set with: --arg NAME=VALUE"]
    return []
