"""`atc runs`: show earlier runs as text or in the browser, export and replay them, and delete
them.
"""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from atc.archive.recording import (
    Recording,
    Replayer,
    line_without_secrets,
    make_recording,
    without_secrets,
)
from atc.archive.recording.document import parse_recording, to_document
from atc.archive.saved_programs import Savable
from atc.cli import options, output
from atc.cli.browser import open_page
from atc.cli.output import has_person, json_text, print_result, say
from atc.cli.run import config_of, resume, script_of
from atc.cli.run_text import clip_line, format_duration, format_run, format_time
from atc.cli.settings import load_config
from atc.cli.wiring import open_agent, open_store, saved_folder
from atc.core.quoting import escape_hidden
from atc.core.text import count
from atc.core.types import Solution
from atc.models.local import forget_prompts
from atc.safety.questions import AskPerson
from atc.store import RunStore
from atc.store.stored import RunSummary
from protocols.errors import AtcError
from protocols.private_files import FILE_MODE, FOLDER_MODE, write_whole
from protocols.protocol import dump
from protocols.schema import Json
from sandbox.choose import open_sandbox

_LISTED = (
    "run_id", "task", "created", "ended", "status", "model", "strategy", "sandbox", "answer", "error",
    "attempt_count", "call_count",
)  # fmt: skip
"""Fields of a run that `atc runs list --json` shows."""
_WORDS = {"passed": "ok   ", "failed": "FAIL ", "error": "ERROR"}


@click.group(cls=options.VerbGroup)
def runs() -> None:
    """See, resume, export and replay earlier runs.

    Every run is stored from its first moment.
    """


runs.add_command(resume)


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
    """The latest runs, newest first."""
    with open_store(load_config()) as store:
        found = [line_without_secrets(store.load(run.run_id)) for run in store.list(limit)]
    shown = [(stored.summary, clip_line(stored.purpose)) for stored in found]
    rows = [
        (run.run_id, run.status, format_time(run.created), format_duration(run), purpose)
        for run, purpose in shown
    ]
    print_result([{name: getattr(run, name) for name in _LISTED} for run, _ in shown], rows)
    if not found:
        say("No run is stored yet; 'atc run TASK' makes one.")


@runs.command(examples=["atc runs show last --prompts"])
@click.argument("run")
@click.option("--prompts", is_flag=True, help="Also show every prompt and reply.")
@click.option("--reveal", is_flag=True, help="Show secrets, which otherwise are placeholders.")
def show(run: str, *, prompts: bool, reveal: bool) -> None:
    """Everything about a run: programs, calls, faults.

    RUN is its id, the beginning or the end of its id, or 'last'.
    """
    with open_store(load_config()) as store:
        stored = store.load(run)
    if not reveal:
        stored = without_secrets(stored)
    # A call stands once, in its attempt's trace or under `unfinished_calls`.
    summary = replace(stored.summary, identities={})
    document = asdict(
        replace(stored, summary=summary, protocols={}, calls=tuple(stored.unfinished_calls))
    )
    document = document.pop("summary") | {"unfinished_calls": document.pop("calls")} | document
    print_result(
        document, escape_hidden("\n".join(format_run(stored, prompts=prompts)), keep_newlines=True)
    )


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
    """See runs in the browser.

    Shown are programs, calls and where their values came from, faults, changes, tokens and cost.
    RUN is an id, the beginning or the end of one, or 'last'; without it the page lists all runs. A
    run is shown as it goes on, a paused one can be gone on with there, and what waits for consent
    allowed or refused, if this was started on a terminal. The page is reached from this machine
    alone, by the address that is printed, which works once: the browser that opens it first is let
    in, no other. Ctrl-C ends it.
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
    def resume(run: str, *, ask_person: AskPerson, accept_orphans: bool, resend: bool) -> Solution:
        with open_agent(
            config_of(store.load(run), shared=store.shared), ask_person=ask_person
        ) as agent:
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
    """Delete stored runs with all that they hold.

    Not a byte of them is left in the store's file. RUN is an id, the beginning or the end of one,
    or 'last'. A run that a process is working on is left alone.
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
    """Return the runs of these names, or else all runs that began more than `older_than` days
    ago.
    """
    if names:
        named = [store.load(name).summary for name in names]
        return list({run.run_id: run for run in named}.values())
    before = time.time() - (older_than or 0) * 86_400
    return [run for run in store.list(None) if run.created <= before]


def _confirm_deletion(number: int) -> None:
    """Ask the person if so many runs are to be deleted.

    Raises:
        click.UsageError: Nobody can be asked.
        click.Abort: The person said no.
    """
    if not has_person():
        raise click.UsageError("nobody can be asked here; give --yes to delete them")
    if not output.confirmed(f"Delete {count(number, 'run')} with all that they hold?"):
        raise click.Abort


@runs.command("export", examples=["atc runs export last -o run.json"])
@click.argument("run")
@options.output_option
@click.option(
    "--python", "as_script", is_flag=True, help="The solved program as a script of its own."
)
@click.option(
    "--html", "as_page", is_flag=True, help="The page that 'atc runs view' shows, as one file."
)
@options.force_option
def export(run: str, *, path: Path | None, as_script: bool, as_page: bool, force: bool) -> None:
    """Write a run as a file that replays, or as a script.

    In it stand the program of RUN, what its calls were answered, and how it ended. RUN is an id,
    the beginning or the end of one, or 'last'. Credentials are never in it; sensitive values of
    arguments and results stand as placeholders. All else that the tools answered does stand in it,
    so the file is readable for you alone. With --html (extra 'view') it is a page for people, which
    replays nothing.
    """
    output.require_new(path, force=force)
    if as_page and as_script:
        raise click.UsageError("give one of --python and --html")
    with open_store(load_config()) as store:
        stored = store.load(run)
    hidden: tuple[str, ...] = ()
    if as_page:
        from atc.serve.view.run_page import page  # needs the extra `view`

        text = page(without_secrets(stored))
        use = "open it in a browser"
    else:
        recording = make_recording(stored)
        hidden = recording.secrets
        if as_script:
            text = script_of(recording, stored, shared=store.shared)
            use = f"run it with: {_format_command('python', path)}"
        else:
            text = json_text(to_document(recording), indent=1) + "\n"
            use = f"replay it with: {_format_command('atc runs replay', path)}"
    if path is not None:
        write_whole(path, text, mode=FOLDER_MODE if as_script else FILE_MODE)
        print_result({"run_id": stored.summary.run_id, "file": str(path), "redacted": list(hidden)})
        say(f"run {stored.summary.run_id} written to {path}; {use}")
    elif output.as_json() and (as_page or as_script):
        output.print_json(text)
    else:
        click.echo(text, nl=False)
    if hidden:
        say(
            f"{count(len(hidden), 'sensitive value')} in it: replaced by placeholders such as {hidden[0]}."
        )


def _format_command(words: str, path: Path | None) -> str:
    """Return a command on a file that can be copied into a shell."""
    return f"{words} {shlex.quote(str(path or '-'))}"


@runs.command(
    examples=[
        "atc runs save last --as-tool busiest_day",
        "atc runs save last --as-tool busiest_day --parameter origin=JFK --parameter year=2013",
    ]
)
@click.argument("run")
@click.option("--as-tool", "name", required=True, metavar="NAME", help="What programs call it.")
@click.option(
    "--parameter",
    "given",
    multiple=True,
    metavar="NAME=LITERAL",
    help="A literal to be given. Repeatable.",
)
@options.force_option
def save(run: str, *, name: str, given: tuple[str, ...], force: bool) -> None:
    """Make a solved program a tool that others can call.

    The program of RUN becomes a function of those of its literals that you choose. RUN is a solved
    run: its id, the beginning or the end of it, or 'last'. The tool is checked, and run once on the
    run's own calls, so that nothing is called. 'atc run', 'atc check' and 'atc serve' offer it
    wherever the tools that it calls are among their own.
    """
    config = load_config()
    file = saved_folder(config) / f"{name}.json"
    output.require_new(file, force=force)
    with open_store(config) as store:
        savable = Savable(store.load(run))
    parameters = _parse_parameters(savable, given)
    with closing(open_sandbox(config.sandbox, policy=config.policy)) as opened:
        protocol = savable.tool(name, parameters, opened)
    write_whole(file, json_text(dump(protocol), indent=1) + "\n")
    print_result({"tool": name, "file": str(file), "protocol": dump(protocol)})
    say(f"{name}({', '.join(parameters)}) written to {file}; deleting the file forgets it.")
    if not given and savable.literals:
        say(f"What can be a --parameter of it: {', '.join(savable.literals)}.")


def _parse_parameters(savable: Savable, given: tuple[str, ...]) -> dict[str, Json]:
    parameters: dict[str, Json] = {}
    for text in given:
        name, equals, literal = text.partition("=")
        if not name or not equals or name in parameters:
            raise click.UsageError(
                f"--parameter {text!r}: give each once, as NAME=LITERAL, such as origin=JFK"
            )
        parameters[name] = savable.literal(literal)
    return parameters


@runs.command(examples=["atc runs replay run.json"])
@click.argument("file")
@options.sandbox_option
def replay(file: str, *, sandbox: str | None) -> None:
    """Run an exported program again, offline.

    Its calls are answered from FILE ('-' reads stdin). Nothing is sent anywhere and no key is
    needed. It runs in the sandbox that ran it first, if that is here. Exit status: 0 it made the
    same calls and gave the same answer, 1 it did not, 2 FILE is no recording, 3 the sandbox is
    missing.
    """
    with Replayer(load_config({"sandbox": sandbox}).sandbox) as replayer:
        recording = parse_recording(output.read_text(file), where=file)
        document, told = _replay_one(recording, replayer)
    print_result(document, (document["same"] and recording.answer) or "")
    say(told)
    sys.exit(0 if document["same"] else 1)


@runs.command(examples=["atc runs test tests/runs/"])
@click.argument("files", nargs=-1, required=True)
@options.sandbox_option
def test(files: tuple[str, ...], *, sandbox: str | None) -> None:
    """Replay many files, for CI.

    FILES are recordings, or folders that hold some; of each is said whether it gave the same
    answer. Needs neither keys nor network. Exit status: 0 all did, 1 one did not or cannot be read,
    2 there is none.
    """
    found = list(dict.fromkeys(_find_recordings(files)))
    if not found:
        raise click.UsageError(
            "there is no recording in it; 'atc runs export RUN -o FILE' writes one"
        )
    documents: list[dict[str, Any]] = []
    with Replayer(load_config({"sandbox": sandbox}).sandbox) as replayer:
        for file in found:
            try:
                document, told = _replay_one(
                    parse_recording(output.read_text(file), where=file), replayer
                )
                state = "passed" if document["same"] else "failed"
            except (AtcError, click.UsageError) as error:  # it is no recording, or cannot run
                document = {}
                told = str(error)
                state = "error"
            problem = None if state == "passed" else told
            documents.append({"file": file, "problem": problem, "state": state} | document)
            if not output.as_json():
                output.print_text(f"{_WORDS[state]}  {file}  {told}")
    print_result(documents, "")
    passed = sum(one["state"] == "passed" for one in documents)
    say(f"{passed} of {count(len(documents), 'recording')} gave the same answer.")
    sys.exit(0 if passed == len(documents) else 1)


def _find_recordings(files: Sequence[str]) -> Iterator[str]:
    """Yield the files that were given, and all that end in .json in the folders that were given.

    Raises:
        click.UsageError: There is no file or folder of a name.
    """
    for file in files:
        path = Path(file)
        if path.is_dir():
            yield from map(str, sorted(path.rglob("*.json")))
        elif file == "-" or path.exists():
            yield file
        else:
            raise click.UsageError(f"there is no file or folder {file!r}")


def _replay_one(recording: Recording, replayer: Replayer) -> tuple[dict[str, Any], str]:
    """Replay a recording, and return how it ended: as an object for JSON, and as a sentence."""
    verdict = replayer.rerun(recording)
    departure = verdict.departure
    document = {
        "run_id": recording.run,
        "same": departure is None,
        "answer": recording.answer,
        "call_count": len(recording.trace.calls),
        "sandbox": verdict.backend,
        "seconds": round(verdict.seconds, 3),
        "diverged": None,
    }
    if departure is not None:
        told = {
            "index": departure.index,
            "expected": departure.expected,
            "got": departure.got,
            "told": str(departure),
        }
        return document | {"diverged": told}, f"{str(departure).rstrip('.')}."
    end = "end" if recording.answer is None else "answer"
    took = f"{count(len(recording.trace.calls), 'call')}, {verdict.seconds * 1000:.0f} ms, {verdict.backend}"
    return document, f"the same {end} ({took})"
