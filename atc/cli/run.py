"""`atc run` and `atc runs resume`: a task solved or gone on with, the result on stdout, how it ended on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, NoReturn

import click

from atc.agent import Agent, readable
from atc.cli import options, output
from atc.cli.settings import Layer, load_config
from atc.cli.wiring import asker, open_agent, open_store
from atc.config import Config
from atc.learned import amended
from atc.redaction import Redactor
from atc.store.stored import StoredRun
from atc.strategies import read
from atc.terminal import count
from atc.types import Solution
from atc.view import RunView, stderr_console, told_call
from protocols.errors import ModelUnavailable
from sandbox.base import SandboxUnavailable

_OWN = frozenset({"credentials", "mcp", "state_dir", "store", "cache_dir"})
"""Settings of this machine: a stored run's are not taken over."""


@click.command(
    cls=options.Verb,
    examples=[
        'atc run "How many flights left JFK for Boston on 4 July 2013?"',
        'atc run "Close my oldest open ticket" --tools https://example.org/openapi.json --allow-writes close_ticket',
        'echo "Who flies to Denver?" | atc run - --json',
    ],
)
@click.argument("task")
@options.tools_options
@options.model_option
@options.strategy_option
@options.sandbox_option
@options.allow_writes_option
@options.trust_option
@options.learn_option
@options.on_unknown_option
@click.option("--dry-run", is_flag=True, help="Choose tools, write and check the program; call nothing.")
@options.budget_options
def run(task: str, *, dry_run: bool, **flags: Any) -> None:
    """Solve TASK ('-' reads stdin) by one program over the given tools.

    The answer goes to stdout, what happens to stderr. Exit status: 0 solved, 1 failed or paused, 2 wrong usage,
    3 something is missing or down, 130 interrupted.
    """
    config = load_config(flags)
    if dry_run and not read(config.strategy)[0].writes_programs:
        raise click.UsageError(f"--dry-run shows a program; {config.strategy} writes none before it calls: use chain.")
    task = readable(output.read_text("-") if task == "-" else task)
    if not dry_run:
        _solve(config, lambda agent, view: agent.run(task, observer=view))
    with _watched(config, warm=False) as (agent, view):
        tools, program, findings = agent.draft(task, observer=view)
    source = program.source if program else None
    document = {"tools": list(tools), "program": source, "findings": [asdict(found) for found in findings]}
    output.print_result(document, (source or "").rstrip("\n"))
    for found in findings:
        output.say(f"line {found.line}: {found.message}")
    sys.exit(0 if program is not None and not findings else 1)


@click.command(cls=options.Verb, examples=["atc runs resume last --allow-writes close_ticket"])
@click.argument("run")
@options.allow_writes_option
@options.trust_option
@options.on_unknown_option
@click.option("--resend", is_flag=True, help="The write in doubt did not happen, as you found out: send it again.")
@click.option("--accept-orphans", is_flag=True, help="Writes that the final program does not make may stand.")
@options.budget_options
def resume(run: str, *, resend: bool, accept_orphans: bool, **flags: Any) -> None:
    """Go on with a run that was paused or broke off.

    RUN is its id, the beginning or the end of its id, or 'last': a run that was paused or killed, or that an outage or
    its budget ended (give it more of that). Its task, tools and settings are those it was begun with. What the model
    wrote and what tools answered is not asked again, and no write is sent twice: one whose answer was lost is looked up
    by the read that shows it, sent again only under its idempotency key, or left to you. Exit status as of 'atc run'.
    """
    with open_store(load_config()) as store:
        stored = store.load(run)
    run = stored.summary.id
    config = config_of(stored, flags)

    def go_on(agent: Agent, view: RunView) -> Solution:
        return agent.resume(run, observer=view, accept_orphans=accept_orphans, resend=resend)

    _solve(config, go_on, name=run)


def config_of(stored: StoredRun, flags: Mapping[str, Any] | None = None) -> Config:
    """The settings that a stored run goes on with: those it began with, and what `flags` change or allow besides."""
    known = {key: value for key, value in stored.summary.config.items() if key not in _OWN and value not in (None, [])}
    changed = dict(flags or {})
    for key in ("allow_writes", "trust"):  # what was allowed before stays allowed
        if changed.get(key):
            changed[key] = (*known.get(key, ()), *changed[key])
    return load_config(changed, stored=Layer(f"run {stored.summary.id}", known))


@contextmanager
def _watched(config: Config, *, warm: bool = True) -> Iterator[tuple[Agent, RunView]]:
    """An agent, and what shows its run on stderr; writes are asked about on a terminal."""
    with RunView(stderr_console()) as view:
        person = asker(aside=view.interrupted)
        with open_agent(config, reading=view.reading, ask_person=person, warm=warm) as agent:
            yield agent, view


def _solve(config: Config, run: Callable[[Agent, RunView], Solution], *, name: str = "last") -> NoReturn:
    """Run, print the solution and exit: 0 solved, 1 failed or paused. `name` is what resumes the run.

    The answer is the user's, who asked for it; in all else secrets are placeholders.
    """
    with _watched(config) as (agent, view):
        before, latest = agent.toolbox, [stored.id for stored in agent.store.list(1)]
        try:
            solution = run(agent, view)
        except (KeyboardInterrupt, ModelUnavailable, SandboxUnavailable):
            if name != "last" or [stored.id for stored in agent.store.list(1)] != latest:  # else it had not begun
                output.say(f"Go on with: atc runs resume {name}")
            raise
    redact = Redactor(agent.toolbox)
    redact.learn_sources(config.tools)
    redact.learn_attempts(solution.attempts)
    shown = redact.value(solution)
    plain = asdict(shown) | {"answer": solution.answer, "calls": solution.calls, "repairs": solution.repairs}
    answer = solution.answer if solution.status == "solved" else None
    output.print_result(plain | output.error_document(_why(shown), 1), answer or "")
    _conclude(shown, view)
    for tool in amended(before, agent.toolbox):
        output.say(
            f"{tool.alias} answered otherwise than declared; later runs go by its answer."
            " To write it down: atc tools import SOURCE -o FOLDER"
        )
    sys.exit(0 if solution.status == "solved" else 1)


def _conclude(solution: Solution, view: RunView) -> None:
    """The last lines on stderr: how it ended, what it took, what it left behind, what to do next."""
    took = (
        f"{solution.seconds:.1f} s ({solution.usage.model_seconds:.1f} s model), {count(solution.calls, 'call')},"
        f" {count(solution.repairs, 'repair')}, {solution.usage.tokens} tokens · run {solution.run}"
    )
    view.line(solution.status, took, "green" if solution.status == "solved" else "red")
    for call in solution.orphans:
        view.line("left", f"{told_call(call)}: an earlier program made it, the answer's does not", "yellow")
    for call in solution.unknown:
        view.line("unknown", f"{told_call(call)}: nobody knows whether it took effect", "yellow")
    if (why := _why(solution)) is None:
        return
    output.say(why)
    resume = f"atc runs resume {solution.run}"
    if resume in why:
        return
    if solution.status == "failed":
        output.say(f"See every attempt with: atc runs show {solution.run}")
    elif solution.unknown:
        output.say(
            f"Look at the service. If it did not happen: {resume} --resend. To go on without it: {resume}"
            " --on-unknown skip. To look once more: the command without either."
        )
    else:
        output.say(f"Go on with: {resume}" + (" --accept-orphans, which lets them stand" if solution.orphans else ""))


def _why(solution: Solution) -> str | None:
    """Why there is no answer that stands, in a sentence; None where there is one."""
    last = solution.attempts[-1] if solution.attempts else None
    if solution.status == "solved":
        return None
    if solution.status == "paused":
        failure = last.trace.failure if last is not None and last.paused and last.trace is not None else None
        left = f"Writes are left that the final program does not make. It would answer: {solution.answer}"
        return failure.message if failure else left
    if solution.limit and " = " not in solution.limit:  # a bound of the strategy, which no setting raises
        return f"There was no answer within {solution.limit}, the most of this strategy: ask for less, or take another."
    if solution.limit:
        return f"The run's budget is spent: {solution.limit}. Raise it with 'atc runs resume', or ask for less."
    return last.fault.message if last is not None and last.fault is not None else "No program gave an answer."
