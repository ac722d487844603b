"""`atc run` and `atc runs resume`: solve a task or continue a run, with the answer on stdout and
the rest on stderr.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any, NoReturn

import click

from atc.agent import Agent
from atc.archive.learned_schemas import find_changed_tools
from atc.archive.recording import Recording
from atc.archive.recording.script import MAY_BE_WITHHELD, to_script
from atc.cli import options, output
from atc.cli.errors import error_document
from atc.cli.output import has_person
from atc.cli.settings import LIMITS, Layer, is_within_limit, load_config
from atc.cli.wiring import make_asker, open_agent, open_learned, open_store, open_toolbox
from atc.core.config import Config
from atc.core.quoting import command, escape_hidden, quote_name
from atc.core.task import readable
from atc.core.text import count
from atc.core.types import Solution
from atc.observe.terminal_view import RunView, format_whole_call, stderr_console
from atc.safety.redaction import Redactor
from atc.store.lease import LEASE_SECONDS
from atc.store.stored import RunRefused, StoredRun
from atc.strategies import parse_spec
from protocols.errors import ModelUnavailable
from protocols.protocol import ToolProtocol
from protocols.schema import Json
from protocols.sources import absolute_source
from sandbox.base import SandboxUnavailable
from sandbox.choose import AUTO

_OWN = frozenset({"credentials", "mcp", "state_dir", "store", "cache_dir"})
"""Settings that belong to this machine. Those of a stored run are ignored."""
_SHAPES = frozenset(
    {"strategy", "repair", "retrieval", "prompt_tokens", "temperature", "decoding", "docs"}
)
"""Settings that decide how a task is solved, but not what runs, what is reached, or what may be
changed.
"""
_NAMED = ("tools", "model", "sandbox")
"""Settings that decide what runs here. If others could have written the run, this user must have
given each.
"""


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
@click.option(
    "--dry-run", is_flag=True, help="Choose tools, write and check the program; call nothing."
)
@options.budget_options
def run(task: str, *, dry_run: bool, **flags: Any) -> None:
    """Solve TASK ('-' reads stdin) by one program over the given tools.

    The answer goes to stdout, what happens to stderr. Exit status: 0 solved, 1 failed or paused, 2
    wrong usage, 3 something is missing or down, 130 interrupted.
    """
    config = load_config(flags)
    if dry_run and not parse_spec(config.strategy)[0].writes_programs:
        raise click.UsageError(
            f"--dry-run shows a program; {config.strategy} writes none before it calls: use chain."
        )
    task = readable(output.read_text("-") if task == "-" else task)
    if not dry_run:
        _solve(config, lambda agent, view: agent.run(task, observer=view))
    with _open_watched_agent(config, warm=False) as (agent, view):
        draft = agent.draft(task, observer=view)
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


@click.command(cls=options.Verb, examples=["atc runs resume last --allow-writes close_ticket"])
@click.argument("run")
@options.tools_options
@options.model_option
@options.sandbox_option
@options.allow_writes_option
@options.trust_option
@options.on_unknown_option
@click.option(
    "--resend",
    is_flag=True,
    help="The write in doubt did not happen, as you found out: send it again.",
)
@click.option(
    "--accept-orphans", is_flag=True, help="Writes that the final program does not make may stand."
)
@options.budget_options
def resume(run: str, *, resend: bool, accept_orphans: bool, **flags: Any) -> None:
    """Go on with a run that was paused or broke off.

    RUN is its id, the beginning or the end of its id, or 'last': a run that was paused or killed,
    or that an outage or its budget ended (give it more of that). Its task, tools and settings are
    those it was begun with. Of a run in a database that others can write to, tools, model and
    sandbox are taken only if your settings name them, or you name them here, and consent is only
    what you give. What the model wrote and what tools answered is not asked again, and no write is
    sent twice: one whose answer was lost is looked up by the read that shows it, sent again only
    under its idempotency key, or left to you. A call that somebody declined, or that a client of
    'atc serve' waits for, asks on the terminal, whatever is allowed. Exit status as of 'atc run'.
    """
    with open_store(load_config()) as store:
        stored = store.load(run)
    run = stored.summary.run_id
    config = config_of(stored, flags, shared=store.shared)
    lease = stored.summary.lease
    if (
        lease is not None
        and stored.summary.status in ("running", "interrupted")
        and lease.holder.life() == "unknown"
    ):
        wait = f"waiting up to {LEASE_SECONDS:g} seconds for a sign of life"
        output.say(
            f"run {run} was being worked on by {lease.holder}, which cannot be looked up from here: {wait}."
        )
    decided = {
        "--resend": resend,
        "--accept-orphans": accept_orphans,
        "--on-unknown skip": config.on_unknown == "skip",
    }
    _require_person(
        stored,
        [*_list_newly_allowed(stored, config), *(name for name, given in decided.items() if given)],
    )

    def go_on(agent: Agent, view: RunView) -> Solution:
        return agent.resume(run, observer=view, accept_orphans=accept_orphans, resend=resend)

    _solve(config, go_on, name=run)


def config_of(stored: StoredRun, flags: Mapping[str, Any] | None = None, *, shared: bool) -> Config:
    """Return the settings with which a stored run continues: its own, changed by `flags`.

    `shared` means that other users can write to the store. Then the stored run does not decide what
    runs here or what may be changed.

    Raises:
        RunRefused: The run names tools, a model or a sandbox that this user has not named.
    """
    known = {
        key: value
        for key, value in stored.summary.config.items()
        if key not in _OWN and value not in (None, [])
    }
    changed = dict(flags or {})
    if shared:
        known = _keep_harmless_settings(stored.summary.run_id, known, load_config(changed), changed)
    for key in ("allow_writes", "trust"):  # what was allowed before stays allowed
        if changed.get(key):
            changed[key] = (*known.get(key, ()), *changed[key])
    return load_config(changed, stored=Layer(f"run {stored.summary.run_id}", known))


def _list_newly_allowed(stored: StoredRun, config: Config) -> list[str]:
    """Return what `config` allows and the run did not allow when it began, as command-line
    options.
    """
    known = {
        key: map(str, stored.summary.config.get(key) or ()) for key in ("allow_writes", "trust")
    }
    new = {key: set(getattr(config, key)).difference(before) for key, before in known.items()}
    believed = config.trust_annotations and not stored.summary.config.get("trust_annotations")
    named = [
        f"--{key.replace('_', '-')} {one}" for key, names in new.items() for one in sorted(names)
    ]
    return [*named, *(["--trust-annotations"] if believed else [])]


def _require_person(stored: StoredRun, options: Sequence[str]) -> None:
    """Check that a person is there to decide about another agent's run, if `options` decide
    anything.

    Raises:
        RunRefused: Nobody sits at a terminal.
    """
    if stored.summary.gateway and options and not has_person():
        run = stored.summary.run_id
        raise RunRefused(
            f"run {run} is that of another agent, a client of 'atc serve', and {options[0]!r} is a person's to decide:"
            f" run this on a terminal: atc runs resume {run}"
        )


def _keep_harmless_settings(
    run: str, known: Mapping[str, Json], own: Config, flags: Mapping[str, Any]
) -> dict[str, Json]:
    """Return the settings of a run that may be used although others could have written them.

    `own` are the settings of this user.

    Raises:
        RunRefused: See `config_of`.
    """
    ours: dict[str, set[str | None]] = {
        "tools": {absolute_source(one) for one in own.tools},
        "model": {own.model},
        "sandbox": {own.sandbox, AUTO},
    }
    foreign = [
        (key, str(one))
        for key in _NAMED
        if key in known and not flags.get(key)
        for one in (known[key] if isinstance(known[key], list) else [known[key]])
        if str(one) not in ours[key]
    ]
    if foreign:
        named = ", ".join(f"{key} {one!r}" for key, one in foreign)
        options = " ".join(f"--{key} {shlex.quote(one)}" for key, one in foreign)
        raise RunRefused(
            f"run {run} cannot go on by itself: it stands in a database that others can write to, and names what your"
            f" settings do not: {named}. If that is what you want to run, say so: atc runs resume {run} {options}"
        )
    taken = {key: value for key, value in known.items() if key in _SHAPES}
    if "tools" in known and not flags.get("tools"):
        taken["tools"] = known["tools"]
    taken |= {
        key: value
        for key, value in known.items()
        if key in LIMITS and is_within_limit(key, value, own)
    }
    taken |= {key: False for key in ("lend_credentials", "near_hosts") if known.get(key) is False}
    return taken | ({"policy": True} if known.get("policy") is True else {})


def script_of(recording: Recording, stored: StoredRun, *, shared: bool) -> str:
    """Return the recording of a stored run as a Python script, whose tools get no more rights than
    those of the run.

    `shared` means that other users can write to the store. Then this user's own settings, and not
    the run, say what the tools call.

    Raises:
        RunRefused: This user's settings do not name one of the tools.
        InvalidRecording: See `to_script`.
    """
    withheld = {key for key in MAY_BE_WITHHELD if stored.summary.config.get(key) is False}
    if shared:
        config = load_config()
        withheld |= {key for key in MAY_BE_WITHHELD if not getattr(config, key)}
        recording = replace(
            recording, tools=_own_tools(recording, stored.summary.identities, config)
        )
    return to_script(recording, withheld=sorted(withheld))


def _own_tools(
    recording: Recording, identities: Mapping[str, str], config: Config
) -> dict[str, ToolProtocol]:
    """Return the protocols of the recorded tools by alias, as the sources of `config` define them.

    Raises:
        RunRefused: These sources do not define one of the tools.
    """
    known: dict[str, ToolProtocol] = {}
    if config.tools:
        learned = open_learned(config)
        with open_toolbox(config) as toolbox:
            informed = toolbox if learned is None else learned.apply_to(toolbox)
            known = {
                tool.identity: replace(tool.protocol, examples=()) for tool in informed.values()
            }
    if foreign := [alias for alias in recording.tools if identities.get(alias) not in known]:
        raise RunRefused(
            f"run {recording.run} stands in a database that others can write to, and none of the tools that your"
            f" settings name is its {quote_name(foreign[0])}: name its source in your settings, or with"
            " ATC_TOOLS=SOURCE, and export it again."
        )
    return {alias: known[identities[alias]] for alias in recording.tools}


@contextmanager
def _open_watched_agent(config: Config, *, warm: bool = True) -> Iterator[tuple[Agent, RunView]]:
    """Open an agent together with the view that shows its runs on stderr. Writes are asked about on
    the terminal.
    """
    with output.break_line_on_interrupt(), RunView(stderr_console()) as view:
        person = make_asker(aside=view.pause_status)
        with open_agent(config, reading=view.show_reading, ask_person=person, warm=warm) as agent:
            yield agent, view


def _solve(
    config: Config, run: Callable[[Agent, RunView], Solution], *, name: str = "last"
) -> NoReturn:
    """Run a task, print the solution and exit: 0 if it was solved, 1 if it failed or is paused.

    `name` is what resumes the run. The answer is printed as it is; secrets in everything else
    become placeholders.
    """
    with _open_watched_agent(config) as (agent, view):
        before = agent.toolbox
        latest = [stored.run_id for stored in agent.store.list(1)]
        try:
            solution = run(agent, view)
        except (KeyboardInterrupt, ModelUnavailable, SandboxUnavailable):
            if (
                name != "last" or [stored.run_id for stored in agent.store.list(1)] != latest
            ):  # else it had not begun
                output.say(f"Go on with: {_format_runs_command('resume', name)}")
            raise
    redact = Redactor(agent.toolbox)
    redact.learn_sources(config.tools)
    redact.learn_attempts(solution.attempts)
    shown = redact.value(solution)
    plain = asdict(shown) | {
        "answer": solution.answer,
        "call_count": solution.call_count,
        "repairs": solution.repairs,
    }
    answer = solution.answer if solution.status == "solved" else None
    output.print_result(plain | error_document(_explain_failure(shown), 1), answer or "")
    _conclude(shown, view)
    for tool in find_changed_tools(before, agent.toolbox):
        output.say(
            f"{tool.alias} answered otherwise than declared; later runs go by its answer."
            " To write it down: atc tools import SOURCE -o FOLDER"
        )
    sys.exit(0 if solution.status == "solved" else 1)


def _conclude(solution: Solution, view: RunView) -> None:
    """Write the last lines on stderr: how the run ended, what it took, what it left behind and how
    to go on.
    """
    took = (
        f"{solution.seconds:.1f} s ({solution.usage.model_seconds:.1f} s model), {count(solution.call_count, 'call')},"
        f" {count(solution.repairs, 'repair')}, {solution.usage.tokens} tokens · run {solution.run_id}"
    )
    view.line(solution.status, took, "green" if solution.status == "solved" else "red")
    for call in solution.orphans:
        view.line(
            "left",
            f"{format_whole_call(call)}: an earlier program made it, the answer's does not",
            "yellow",
        )
    for call in solution.unknown_writes:
        view.line(
            "unknown", f"{format_whole_call(call)}: nobody knows whether it took effect", "yellow"
        )
    if (why := _explain_failure(solution)) is None:
        return
    output.say(why)
    resume = _format_runs_command("resume", solution.run_id or "")
    if resume in why:
        return
    if solution.status == "failed":
        output.say(f"See every attempt with: {_format_runs_command('show', solution.run_id or '')}")
    elif solution.unknown_writes:
        output.say(
            f"Look at the service. If it did not happen: {resume} --resend. To go on without it: {resume}"
            " --on-unknown skip. To look once more: the command without either."
        )
    else:
        output.say(
            f"Go on with: {resume}"
            + (" --accept-orphans, which lets them stand" if solution.orphans else "")
        )


def _format_runs_command(verb: str, run: str) -> str:
    """Return the command that does something with a run. If its id cannot be typed safely, the
    command names `last`.
    """
    return command("atc", "runs", verb, run) or f"atc runs {verb} last"


def _explain_failure(solution: Solution) -> str | None:
    """Return a sentence that says why there is no answer; return None if the task was solved."""
    if solution.status == "failed" and solution.limit and " = " in solution.limit:
        return f"The run's budget is spent: {solution.limit}. Raise it with 'atc runs resume', or ask for less."
    return solution.problem
