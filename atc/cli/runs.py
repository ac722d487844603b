"""`atc runs`: what earlier runs did, as text and in the browser, and forgetting it with the secrets in it."""

from __future__ import annotations

import json
import time
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, replace
from pathlib import Path

import click

from atc.cli.options import json_option
from atc.cli.output import has_person, print_columns, print_json, print_or_say, print_text, say
from atc.cli.run import config_of, resume
from atc.cli.runs_files import export, replay, save, test
from atc.cli.settings import load_config
from atc.cli.wiring import open_agent, open_store
from atc.consent import AskPerson
from atc.recording import line_without_secrets, without_secrets
from atc.store import RunStore
from atc.store.stored import RunSummary, StoredCall, StoredRun
from atc.terminal import clipped, count
from atc.types import Attempt, Solution
from protocols.jsontypes import Json

_WIDTH = 200
_VIEW_EPILOG = """\b
Examples:
  atc runs view
  atc runs view last
  atc runs view --port 8790 --no-browser
"""


@click.group()
def runs() -> None:
    """See, resume, export and replay earlier runs.

    Every run is stored from its first moment.
    """


for _verb in (resume, export, save, replay, test):
    runs.add_command(_verb)


@runs.command("list", epilog="Example: atc runs list --limit 5")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, metavar="N", help="Newest runs only.")
@json_option
def list_(*, limit: int, as_json: bool) -> None:
    """The latest runs, newest first."""
    with open_store(load_config()[0]) as store:
        found = [line_without_secrets(store.load(run.id)) for run in store.list(limit)]
    if as_json:
        print_json([asdict(run.summary) for run in found])
    elif found:
        shown = [(stored.summary, _line(stored.purpose)) for stored in found]
        print_columns((run.id, run.status, _when(run.created), _took(run), purpose) for run, purpose in shown)
    else:
        say("No run is stored yet; 'atc run TASK' makes one.")


@runs.command(epilog="Example: atc runs show last --prompts")
@click.argument("run")
@click.option("--prompts", is_flag=True, help="Also show every prompt and reply.")
@click.option("--reveal", is_flag=True, help="Show secrets, which otherwise are placeholders.")
@json_option
def show(run: str, *, prompts: bool, reveal: bool, as_json: bool) -> None:
    """Everything about a run: programs, calls, faults.

    RUN is its id, the beginning or the end of its id, or 'last'.
    """
    with open_store(load_config()[0]) as store:
        stored = store.load(run)
    if not reveal:
        stored = without_secrets(stored)
    if as_json:
        print_json(_document(stored))
    else:
        print_text("\n".join(_page(stored, prompts=prompts)))


@runs.command(epilog=_VIEW_EPILOG)
@click.argument("run", required=False)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Port of 127.0.0.1, else a free one."
)
@click.option("--browser/--no-browser", default=True, help="Open the page in the browser (the default), or print it.")
@json_option
def view(run: str | None, *, port: int, browser: bool, as_json: bool) -> None:
    """See runs in the browser.

    Shown are programs, calls and where their values came from, faults, changes, tokens and cost. RUN is an id, the
    beginning or the end of one, or 'last'; without it the page lists all runs. A run is shown as it goes on, a paused
    one can be gone on with there, and what waits for consent allowed or refused. The page is reached from this machine
    alone, by the address that is printed; its token is new each time. Ctrl-C ends it.
    """
    from atc.serve.view.resumes import Resumes  # needs the extra `view`
    from atc.serve.view.server import Viewer, serve

    config = load_config()[0]
    with open_store(config) as store:
        path = f"runs/{store.load(run).summary.id}" if run is not None else ""

        def ready(address: str) -> None:
            url = address + path
            if as_json:
                print_json({"url": url})
            else:
                print_text(url)
                say("Ctrl-C ends it.")
            if browser:
                webbrowser.open(url)

        with closing(Resumes(_resume_with(store))) as resumes:
            serve(Viewer(store, resumes), port=port, ready=ready)


def _resume_with(store: RunStore) -> Callable[..., Solution]:
    def resume(run: str, *, ask_person: AskPerson, accept_orphans: bool, resend: bool) -> Solution:
        with open_agent(config_of(store.load(run)), ask_person=ask_person) as agent:
            return agent.resume(run, accept_orphans=accept_orphans, resend=resend)

    return resume


@runs.command(epilog="Example: atc runs purge --older-than 30 --yes")
@click.argument("names", nargs=-1, metavar="[RUN]...")
@click.option("--older-than", type=click.FloatRange(0), metavar="DAYS", help="Every run begun longer ago than that.")
@click.option("--all", "every", is_flag=True, help="Every run, also those of earlier versions.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def purge(names: tuple[str, ...], *, older_than: float | None, every: bool, yes: bool, as_json: bool) -> None:
    """Delete stored runs with all that they hold.

    Not a byte of them is left in the store's file. RUN is an id, the beginning or the end of one, or 'last'. A run that
    a process is working on is left alone.
    """
    if sum((bool(names), older_than is not None, every)) != 1:
        raise click.UsageError("name the runs to delete, or give one of --older-than DAYS and --all")
    config = load_config()[0]
    with open_store(config) as store:
        if names:
            chosen = list({(run := store.load(name).summary).id: run for name in names}.values())
        else:
            before = time.time() - (older_than or 0) * 86_400
            chosen = [run for run in store.list(None) if run.created <= before]
        running = [run.id for run in chosen if run.status == "running" and not names]
        chosen = [run for run in chosen if run.id not in running]
        if chosen and not yes:
            if not has_person():
                raise click.UsageError("nobody can be asked here; give --yes to delete them")
            question = f"Delete {count(len(chosen), 'run')} with all that they hold?"
            click.confirm(question, default=False, err=True, abort=True)
        deleted = store.delete([run.id for run in chosen])
    _forget_prompts(config.cache_dir / "models" / "states", [run.task for run in chosen])
    told = f"Deleted {count(deleted, 'run')}." if deleted else "There is nothing to delete."
    print_or_say({"deleted": [run.id for run in chosen], "running": running}, told, as_json=as_json)
    if running:
        say(f"Left alone, since a process works on it: {', '.join(running)}.")


def _forget_prompts(folder: Path, tasks: Sequence[str]) -> None:
    """Delete what the embedded model kept of prompts with these tasks, in which a secret may have been typed."""
    for note in folder.glob("*.json"):
        with suppress(OSError, ValueError):
            prompt = json.loads(note.read_text(encoding="utf-8")).get("prompt", "")
            if any(task in prompt for task in tasks):
                note.with_suffix(".state").unlink(missing_ok=True)
                note.unlink()


def _document(stored: StoredRun) -> Json:
    """The run as JSON; a call stands once, in its attempt's trace or under `unfinished_calls`."""
    document = asdict(replace(stored, protocols={}, identities={}, calls=tuple(stored.unfinished)))
    return document.pop("summary") | {"unfinished_calls": document.pop("calls")} | document


def _page(stored: StoredRun, *, prompts: bool) -> list[str]:
    lines = _head(stored)
    for number, attempt in enumerate(stored.attempts, start=1):
        source = [f"{line:>7} │ {text}" for line, text in enumerate(attempt.program.source.splitlines(), start=1)]
        lines += ["", f"attempt {number}", *source, *_outcome(attempt)]
    if unfinished := stored.unfinished:
        lines += ["", "calls of executions that broke off or were begun again", *map(_call, unfinished)]
    if prompts:
        for exchange in stored.exchanges:
            lines += ["", f"prompt ({exchange.purpose})"]
            lines += [f"[{message.role}]\n{message.content}" for message in exchange.messages]
            reply = exchange.reply
            took = f" ({reply.output_tokens} tokens, {reply.seconds:.1f} s)" if reply else ""
            lines += [f"reply{took}", reply.text if reply and reply.text else "(none)"]
    run = stored.summary
    if run.error is not None:
        lines += ["", f"error    {run.error}"]
    return [*lines, "", f"answer   {run.answer}"] if run.answer is not None else lines


def _head(stored: StoredRun) -> list[str]:
    run, usage = stored.summary, stored.usage
    tokens = f"{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out"
    return [
        f"run      {run.id} ({run.status})",
        f"task     {run.task}",
        f"when     {_when(run.created)}, took {_took(run)}",
        f"model    {run.model or '-'}, asked {count(usage.model_calls, 'time')}, {usage.model_seconds:.1f} s, {tokens}",
        f"tools    {', '.join(stored.tools) or '-'}",
        *(f"note     {note}" for note in stored.notes),
    ]


def _outcome(attempt: Attempt) -> list[str]:
    """What became of a program: findings, calls, output, fault."""
    lines = [f"finding  line {finding.line}: {_line(finding.message)}" for finding in attempt.findings]
    lines += [f"mended   line {finding.line}: {_line(finding.message)}" for finding in attempt.mended]
    if attempt.trace is not None:
        lines += [_call(StoredCall(execution=0, call=call, complete=True)) for call in attempt.trace.calls]
        lines += [f"printed  {_line(attempt.trace.stdout.rstrip())}"] if attempt.trace.stdout.strip() else []
    if attempt.fault is not None:
        lines += [f"fault    {attempt.fault.kind}: {_line(attempt.fault.message)}"]
        lines += [f"         {_line(fact.text)}" for fact in attempt.fault.evidence]
    return lines + [f"doubt    {_line(doubt)}" for doubt in attempt.doubts]


def _call(stored: StoredCall) -> str:
    call = stored.call
    arguments = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in call.arguments.items())
    result = call.error if call.error is not None else json.dumps(call.result, ensure_ascii=False)
    if not stored.complete:
        result = "(no outcome was recorded)"
    how = "from the journal" if call.reused else f"{call.seconds * 1000:.0f} ms"
    how += f" · within {call.within}" if call.within is not None else ""
    how += f" · {call.note}" if call.note is not None else ""
    return f"call {call.index:<3} {call.tool}({arguments}) → {_line(result)} · {how}"


def _line(text: str) -> str:
    return clipped(" ".join(text.split()), _WIDTH)


def _when(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def _took(run: RunSummary) -> str:
    return "-" if run.ended is None else f"{run.ended - run.created:.1f} s"
