"""`atc run` and `atc runs resume`: solve a task, or continue an earlier run.

The answer goes to stdout, everything else to stderr.
"""

from __future__ import annotations

import os.path
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

import click

from atc.agent import Agent
from atc.archive.learned_schemas import find_changed_tools
from atc.cli import options, output
from atc.cli.answer_type import read_output_type
from atc.cli.earlier_runs import (
    RepeatGuard,
    ask_on_terminal,
    describe_broken_run,
    describe_sent_writes,
)
from atc.cli.resume_checks import list_newly_allowed, report_unknown_lease, require_person
from atc.cli.run_after import follow
from atc.cli.run_outcome import Presentation, conclude, print_answer, read_presentation, tell_files
from atc.cli.stored_settings import config_of
from atc.cli.wiring import make_asker, open_agent, open_store
from atc.core.config import Config
from atc.core.quoting import escape_hidden
from atc.core.task import TaskContext, readable
from atc.core.types import Solution
from atc.observe.terminal_view import RunView, stderr_console
from atc.run.output_type import OutputType, SchemaType, TableType, context_of
from atc.safety.redaction import Redactor
from atc.safety.unattended import ConsentMode
from atc.settings.reading import load_config
from atc.strategies import parse_spec
from atc.strategies.provided import GIVEN
from protocols.schema import JsonValue


@click.command(
    cls=options.Verb,
    examples=[
        'atc run "How many flights left JFK for Boston on 4 July 2013?"',
        (
            'atc run "Close my oldest open ticket" --tools https://example.org/openapi.json'
            " --allow-writes close_ticket"
        ),
        'echo "Who flies to Denver?" | atc run - --json',
        'atc run --after last "And from LaGuardia?"',
    ],
)
@click.argument("task")
@options.after_option
@options.tools_options
@options.model_option
@options.strategy_option
@options.sandbox_option
@options.allow_writes_option
@options.trust_option
@options.consent_option
@options.learn_option
@options.on_unknown_option
@click.option(
    "--dry-run", is_flag=True, help="Choose tools, write and check the program; call nothing."
)
@click.option(
    "--output-type",
    metavar="TYPE|FILE",
    callback=read_output_type,
    help="Type of the answer: int, float, str, bool, date, list[TYPE], dict[str, TYPE],"
    " TYPE | None, or a .json file with a JSON Schema. Another answer is repaired.",
)
@click.option(
    "--rules",
    metavar="FILE|TEXT",
    help="Rules that the program must follow, such as a policy. They do not count as your words.",
)
@options.now_option
@options.budget_options
@options.call_limit_options
@options.quiet_option
@options.answer_options
def run(
    task: str,
    *,
    after: str | None,
    dry_run: bool,
    output_type: SchemaType | None,
    rules: str | None,
    now: str | None,
    consent: ConsentMode,
    as_csv: bool,
    as_table: bool,
    values: bool,
    files: Path | None,
    **flags: Any,
) -> None:
    """Solve TASK ('-' reads stdin) by one program over the given tools.

    The answer goes to stdout, what happens to stderr. Exit status: 0 solved, 1 failed, paused
    or unsure (the answer is doubtful), 2 wrong usage, 3 something is missing or down, 130
    interrupted.
    """
    style = read_presentation(as_csv=as_csv, as_table=as_table, values=values, files=files)
    if dry_run and style.form in ("csv", "table"):
        raise click.UsageError(
            f"--dry-run prints a program and no answer; leave --{style.form} out."
        )
    wanted: OutputType[JsonValue] | None = output_type
    if wanted is None and style.form in ("csv", "table"):
        wanted = TableType()
    config, earlier = follow(after, flags)
    if dry_run and not parse_spec(config.strategy)[0].writes_programs:
        raise click.UsageError(
            f"--dry-run shows a program; {config.strategy} writes none before it calls: use chain."
        )
    task = readable(output.read_text("-") if task == "-" else task)
    policy = _read_rules(rules)
    context = context_of(policy, now, wanted)  # a mistake is reported before tools are read

    def begin(agent: Agent, view: RunView) -> Solution:
        guard = RepeatGuard(agent.store, agent.toolbox, ask_on_terminal(view.pause_status))
        guard.check_start(task)
        agent.before_write = guard.before_write
        follows = earlier.find(agent)
        if wanted is None:
            return agent.run(task, rules=policy, now=now, after=follows, observer=view)
        return agent.run(
            task, output_type=wanted, rules=policy, now=now, after=follows, observer=view
        )

    if not dry_run:
        solve(config, begin, consent=consent, context=context, style=style)
    with _open_watched_agent(config, warm=False, values=values) as (agent, view):
        draft = agent.draft(
            task,
            output_type=wanted,
            rules=policy,
            now=now,
            after=earlier.find(agent),
            observer=view,
        )
    source = draft.program.source if draft.program else None
    document = {
        "tools": list(draft.tools),
        "program": source,
        "findings": [asdict(found) for found in draft.findings],
    }
    output.print_result(document, escape_hidden((source or "").rstrip("\n"), keep_newlines=True))
    for found in draft.findings:
        output.say(f"line {found.line}: {found.message}")
    sys.exit(0 if draft.program is not None and not draft.findings else 1)


def _read_rules(rules: str | None) -> str:
    """Return the rules of a task, or "" if the option is missing.

    `rules` is the text itself if it has a blank, else a file's name.

    Raises:
        click.UsageError: The rules are empty, or a single word is not the name of a file that can
            be read.
    """
    if rules is None:
        return ""
    if not rules.strip():
        raise click.UsageError("--rules is empty; give a text or a file, or leave the option out.")
    is_text = any(character.isspace() for character in rules.strip())
    # Path.is_file raises an error for a text that is too long for a name.
    if is_text and not os.path.isfile(rules):  # noqa: PTH113
        return rules
    return output.read_text(rules)


@click.command(cls=options.Verb, examples=["atc runs resume last --allow-writes close_ticket"])
@click.argument("run")
@options.tools_options
@options.model_option
@options.sandbox_option
@options.allow_writes_option
@options.trust_option
@options.consent_option
@click.option(
    "--on-unknown",
    type=click.Choice(["stop", "skip", "done"]),
    help="If nothing shows whether a write took effect: pause (default), or go on without it; done:"
    " the write in doubt did happen, as you found out.",
)
@click.option(
    "--resend",
    is_flag=True,
    help="The write in doubt did not happen, as you found out: send it again.",
)
@click.option(
    "--accept-orphans", is_flag=True, help="Writes that the final program does not make may stand."
)
@options.budget_options
@options.call_limit_options
@options.quiet_option
@options.answer_options
def resume(
    run: str,
    *,
    on_unknown: str | None,
    resend: bool,
    accept_orphans: bool,
    consent: ConsentMode,
    as_csv: bool,
    as_table: bool,
    values: bool,
    files: Path | None,
    **flags: Any,
) -> None:
    """Continue a run that was paused or interrupted.

    RUN is the run's id, the beginning or the end of its id, or 'last'. A run can be continued if it
    was paused or killed, or if an outage or its budget ended it; in the last case, give it a larger
    budget. Its task, tools and settings are those with which it began. If other users can write to
    the database of runs, the tools, model and sandbox of the run are used only if your settings or
    options name them, too, and only you can consent to calls.

    Replies of the model and responses of tools that the run already has are not requested again. No
    write is sent twice. If the response of a write was lost, the write is looked up with a read
    that shows it, or sent again under its idempotency key, or left for you to decide: --resend if
    it did not happen, --on-unknown done if it did, --on-unknown skip to go on without it. A write
    that did happen counts as done with the result None. If a person
    declined a call, or if a client of 'atc serve' waits for a decision about it, you are asked on
    the terminal before it is sent, even if your options allow it. The exit status is that of 'atc
    run'.
    """
    style = read_presentation(as_csv=as_csv, as_table=as_table, values=values, files=files)
    with open_store(load_config()) as store:
        stored = store.load(run)
    run = stored.summary.run_id
    took_effect = on_unknown == "done"
    if took_effect and resend:
        raise click.UsageError(
            "--resend says that the write did not happen, --on-unknown done that it did"
        )
    flags["on_unknown"] = None if took_effect else on_unknown
    config = config_of(stored, flags, shared=store.shared)
    report_unknown_lease(stored)
    decided = {
        "--resend": resend,
        "--accept-orphans": accept_orphans,
        "--consent none": consent == "none",
        "--on-unknown skip": config.on_unknown == "skip",
        "--on-unknown done": took_effect,
    }
    decisions = [*list_newly_allowed(stored, config), *(name for name in decided if decided[name])]
    require_person(stored, decisions)

    def go_on(agent: Agent, view: RunView) -> Solution:
        guard = RepeatGuard(agent.store, agent.toolbox, ask_on_terminal(view.pause_status))
        agent.before_write = guard.before_write
        return agent.resume(
            run,
            observer=view,
            accept_orphans=accept_orphans,
            resend=resend,
            took_effect=took_effect,
        )

    has_model = stored.summary.strategy != GIVEN
    context = stored.summary.context
    solve(config, go_on, consent=consent, context=context, style=style, with_model=has_model)


@contextmanager
def _open_watched_agent(
    config: Config,
    *,
    warm: bool = True,
    consent: ConsentMode = "ask",
    with_model: bool = True,
    values: bool = False,
) -> Iterator[tuple[Agent, RunView]]:
    """Open an agent, and the view that shows its runs on stderr.

    The agent asks for consent to writes on the terminal, unless `consent` is `none`. With `warm`,
    the sandbox starts at once. If `with_model` is False, no model is opened. With `values`, the
    view shows what calls return; with --quiet, it shows nothing.
    """
    console = stderr_console(quiet=output.is_quiet())
    with output.break_line_on_interrupt(), RunView(console, values=values) as view:
        if consent == "none":
            view.line("consent", "none: nobody is asked, whatever a call does", "yellow")
        person = make_asker(aside=view.pause_status)
        with open_agent(
            config,
            reading=view.show_reading,
            ask_person=person,
            warm=warm,
            consent=consent,
            with_model=with_model,
        ) as agent:
            yield agent, view


def solve(
    config: Config,
    run: Callable[[Agent, RunView], Solution],
    *,
    consent: ConsentMode,
    context: TaskContext,
    style: Presentation,
    with_model: bool = True,
    advise: Callable[[Agent, Solution], Sequence[str]] | None = None,
) -> NoReturn:
    """Call `run` with an agent, print the solution and exit: 0 if the task was solved, else 1.

    The answer is printed as it is; secrets in all other output are replaced by placeholders. If an
    error ends the run, the error gets notes about what was sent and how to go on. `context` says
    which type the answer has. If `style` is a table and the answer is none, the exit status is 1.
    `advise` returns further sentences about a solution. If `with_model` is False, no model is
    opened.
    """
    watched = _open_watched_agent(
        config, consent=consent, with_model=with_model, values=style.values
    )
    with watched as (agent, view):
        before = agent.toolbox
        sent: list[str] = []
        try:
            with output.printing_tools():
                solution = run(agent, view)
        except BaseException as error:
            for sentence in describe_broken_run(agent):
                error.add_note(sentence)
            raise
        if solution.status in ("failed", "unsure"):
            sent = describe_sent_writes(agent.store, agent.toolbox, agent.run_id)
        sent += advise(agent, solution) if advise is not None else ()
        saved = [] if style.files is None else agent.save_files(solution, style.files)
    redact = Redactor(agent.toolbox)
    redact.learn_sources(config.tools)
    redact.learn_attempts(solution.attempts)
    shown = redact.value(solution)
    is_printed = print_answer(solution, shown, context, style.form, saved)
    tell_files(solution, view, saved)
    conclude(shown, view, sent)
    for tool in find_changed_tools(before, agent.toolbox):
        output.note(
            f"{tool.alias} answered otherwise than declared; later runs go by its answer."
            " To write it down: atc tools import SOURCE -o FOLDER"
        )
    sys.exit(0 if solution.status == "solved" and is_printed else 1)
