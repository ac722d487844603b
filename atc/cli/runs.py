"""`atc runs`: show earlier runs as text or in the browser, and delete them.

The commands that resume, export, save and replay runs are defined in modules of their own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path

import click

from atc.archive.recording import (
    line_without_secrets,
    without_secrets,
)
from atc.cli import options, output
from atc.cli.browser import open_page
from atc.cli.earlier_runs import RepeatGuard
from atc.cli.output import has_person, print_result, say
from atc.cli.run import resume
from atc.cli.run_outcome import SCHEMA, file_documents
from atc.cli.run_text import format_run
from atc.cli.runs_export import export, save
from atc.cli.runs_list import format_list, list_entry
from atc.cli.runs_replay import replay, test
from atc.cli.stored_settings import config_of
from atc.cli.wiring import open_agent, open_store
from atc.core.quoting import escape_hidden
from atc.core.text import count
from atc.core.types import Solution
from atc.models.local import forget_prompts
from atc.run.output_type import final_value
from atc.run.saved_files import save_files
from atc.safety.questions import AskPerson
from atc.settings.reading import load_config
from atc.store import RunStore
from atc.store.stored import RunSummary
from atc.strategies.provided import GIVEN


@click.group(cls=options.VerbGroup)
def runs() -> None:
    """See, resume, export and replay earlier runs.

    Every run is stored from its first moment.
    """


for command in (resume, export, save, replay, test):
    runs.add_command(command)


@runs.command("list", examples=["atc runs list --limit 5"])
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    metavar="N",
    help="Newest runs only.",
)
def list_(*, limit: int) -> None:
    """List the latest runs, newest first, with what they took and cost.

    A second line says why a run failed or was paused, or what speaks against its answer.
    """
    with open_store(load_config()) as store:
        found = [line_without_secrets(store.load(run.run_id)) for run in store.list(limit)]
    width = output.terminal_width()
    print_result([list_entry(run) for run in found], "\n".join(format_list(found, width)))
    if not found:
        say("No run is stored yet; 'atc run TASK' makes one.")


@runs.command(examples=["atc runs show last --prompts"])
@click.argument("run")
@click.option("--prompts", is_flag=True, help="Also show every prompt and reply.")
@click.option("--reveal", is_flag=True, help="Show secrets, which otherwise are placeholders.")
def show(run: str, *, prompts: bool, reveal: bool) -> None:
    """Show everything about a run: programs, calls and faults.

    RUN is the run's id, the beginning or the end of its id, or 'last'.
    """
    with open_store(load_config()) as store:
        stored = store.load(run)
    context = stored.summary.context
    if not reveal:
        stored = without_secrets(stored)
    # Each call is shown once: in the trace of its attempt, or under `unfinished_calls`.
    summary = replace(stored.summary, identities={})
    document = asdict(
        replace(stored, summary=summary, protocols={}, calls=tuple(stored.unfinished_calls))
    )
    document = (
        {"schema": SCHEMA}
        | document.pop("summary")
        | {"answer": final_value(summary.answer, stored.attempts, context)}
        | {"unfinished_calls": document.pop("calls")}
        | document
    )
    print_result(
        document, escape_hidden("\n".join(format_run(stored, prompts=prompts)), keep_newlines=True)
    )


@runs.command(examples=["atc runs files last", "atc runs files last -o reports"])
@click.argument("run")
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Folder to which the files are written; none is replaced.",
)
def files(run: str, *, folder: Path | None) -> None:
    """List the files that the answer of a run has, or write them to a folder.

    RUN is the run's id, the beginning or the end of its id, or 'last'. If the answer has no file,
    these are all files that tools returned in the run.
    """
    with open_store(load_config()) as store:
        stored = store.load(run)
        found = stored.files
        kept = store.files(stored.summary.run_id)
        saved = [] if folder is None else save_files(found, kept, folder)
    documents = file_documents(found, saved)
    lines = [str(path) for path in saved] or [escape_hidden(str(file)) for file in found]
    print_result(documents, "\n".join(lines))
    if not found:
        say("The run has no files.")


@runs.command(
    examples=["atc runs view", "atc runs view last", "atc runs view --port 8790 --no-browser"]
)
@click.argument("run", required=False)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    help="Port of 127.0.0.1, else a free one.",
)
@click.option(
    "--browser/--no-browser",
    default=True,
    help="Open the page in the browser (the default), or print it.",
)
def view(run: str | None, *, port: int, browser: bool) -> None:
    """Show runs in the browser.

    RUN is an id, the beginning or the end of one, or 'last'; without RUN, the page lists all runs.
    The page of a run shows its programs, its calls and where their values came from, faults,
    changes, tokens and cost, and is updated during the run. If this command was started on a
    terminal, a paused run can be resumed on its page, and a call that waits for consent can be
    allowed or refused. The page can be opened only on this machine, at the address that is printed.
    The address works once: only the browser that opens it first is let in. Ctrl-C ends the viewer.
    """
    from atc.serve.view.resumes import Resumes  # needs the extra `view`
    from atc.serve.view.server import Viewer, serve

    config = load_config()
    with open_store(config) as store:
        path = f"runs/{store.load(run).summary.run_id}" if run is not None else ""

        def ready(new_address: Callable[[], str]) -> None:
            url = new_address() + path
            print_result({"url": url}, url)
            say("The address works once, in one browser. Ctrl-C ends the viewer.")
            if browser:
                open_page(new_address() + path)

        with closing(Resumes(_resume_with(store), person=has_person())) as resumes:
            serve(Viewer(store, resumes), port=port, ready=ready)


def _resume_with(store: RunStore) -> Callable[..., Solution]:
    """Return the function that the viewer in the browser calls to resume a run of `store`."""

    def resume(run: str, *, ask_person: AskPerson, accept_orphans: bool, resend: bool) -> Solution:
        stored = store.load(run)
        with open_agent(
            config_of(stored, shared=store.shared),
            ask_person=ask_person,
            with_model=stored.summary.strategy != GIVEN,
        ) as agent:
            # The page asks about calls only, so nobody can agree to repeat the writes of a run.
            guard = RepeatGuard(agent.store, agent.toolbox, lambda _: False)
            agent.before_write = guard.before_write
            return agent.resume(run, accept_orphans=accept_orphans, resend=resend)

    return resume


@runs.command(examples=["atc runs purge --older-than 30 --yes"])
@click.argument("names", nargs=-1, metavar="[RUN]...")
@click.option(
    "--older-than",
    type=click.FloatRange(0),
    metavar="DAYS",
    help="Every run begun longer ago than that.",
)
@click.option("--all", "every", is_flag=True, help="Every run, also those of earlier versions.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def purge(names: tuple[str, ...], *, older_than: float | None, every: bool, yes: bool) -> None:
    """Delete stored runs with all their data.

    RUN is an id, the beginning or the end of one, or 'last'. Not a byte of the deleted runs is left
    in the store's file. A run on which a process is working is not deleted.
    """
    if sum((bool(names), older_than is not None, every)) != 1:
        raise click.UsageError(
            "name the runs to delete, or give one of --older-than DAYS and --all"
        )
    config = load_config()
    with open_store(config) as store:
        chosen = _choose_runs(store, names, older_than=older_than)
        running = [run.run_id for run in chosen if run.status == "running" and not names]
        chosen = [run for run in chosen if run.run_id not in running]
        if chosen and not yes:
            _confirm_deletion(len(chosen))
        deleted = store.delete([run.run_id for run in chosen])
    forget_prompts([run.task for run in chosen], folder=config.cache_dir / "models")
    print_result({"deleted": [run.run_id for run in chosen], "running": running})
    say(f"Deleted {count(deleted, 'run')}." if deleted else "There is nothing to delete.")
    if running:
        say(f"Left alone, since a process works on it: {', '.join(running)}.")


def _choose_runs(
    store: RunStore, names: Sequence[str], *, older_than: float | None
) -> list[RunSummary]:
    """Return the runs to delete: those that are named, or else those that are old enough.

    A run is old enough if it began more than `older_than` days ago. If that is None, all are.
    """
    if names:
        named = [store.load(name).summary for name in names]
        return list({run.run_id: run for run in named}.values())
    before = time.time() - (older_than or 0) * 86_400
    return [run for run in store.list(None) if run.created <= before]


def _confirm_deletion(number: int) -> None:
    """Ask the person at the terminal whether to delete `number` runs.

    Raises:
        click.UsageError: There is no terminal on which to ask the person.
        click.Abort: The person answered no.
    """
    if not has_person():
        raise click.UsageError("nobody can be asked here; give --yes to delete them")
    if not output.confirmed(f"Delete {count(number, 'run')} with all that they hold?"):
        raise click.Abort
