"""`atc runs export`: a run as a file that runs again, or its program as a script."""

from __future__ import annotations

from pathlib import Path

import click

from atc.cli.options import force_option, json_option, output_option
from atc.cli.output import json_text, print_json, print_text, say
from atc.cli.settings import load_config
from atc.cli.state import open_store
from atc.recording.document import to_document
from atc.recording.make import record
from atc.recording.recording import Recording
from atc.recording.script import to_script
from atc.store.stored import StoredRun
from atc.terminal import count
from protocols.files import write_whole
from protocols.jsontypes import Json, dumps


@click.command("export", epilog="Example: atc runs export last -o run.json")
@click.argument("run")
@output_option
@click.option("--python", "as_script", is_flag=True, help="The solved program as a script of its own.")
@force_option
@json_option
def export(run: str, *, path: Path | None, as_script: bool, force: bool, as_json: bool) -> None:
    """Write RUN as a file for 'atc runs replay': its program, what its calls were answered, and how it ended.

    RUN is an id, the beginning or the end of one, or 'last'. Credentials are never in it; sensitive values of
    arguments and results stand as placeholders. All else that the tools answered does stand in it, so the file is
    readable for you alone.
    """
    if path is not None and path.exists() and not force:
        raise click.UsageError(f"{str(path)!r} exists; give --force to replace it, or another file")
    with open_store(load_config()[0]) as store:
        stored = store.load(run)
    recording = recorded(stored)
    text = _script(recording, stored) if as_script else _run_file(recording)
    if path is not None:
        write_whole(path, text, mode=0o700 if as_script else 0o600)
    _tell(recording, path, text, as_script=as_script, as_json=as_json)


def recorded(stored: StoredRun) -> Recording:
    """The recording of a stored run, with the tools that were stored with it."""
    return record(stored, stored.protocols)


def _run_file(recording: Recording) -> str:
    """The recording as JSON text, a call or a tool on one line, so that two files can be compared line by line."""
    parts = []
    for key, value in to_document(recording).items():
        text = _json(value)
        if key == "calls" and value:
            text = "[\n    " + ",\n    ".join(map(_json, value)) + "\n  ]"
        elif isinstance(value, dict) and value:
            text = "{\n    " + ",\n    ".join(f"{_json(name)}: {_json(part)}" for name, part in value.items()) + "\n  }"
        parts.append(f"  {_json(key)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _json(value: Json) -> str:
    """`value` on one line, as `json_text` writes it, which takes long for what is large."""
    text = dumps(value)
    return text if text.isprintable() else json_text(value)


def _script(recording: Recording, stored: StoredRun) -> str:
    given = [source.rpartition("=")[2] for source in stored.config.get("tools", ())]
    modules = {Path(source).stem: source for source in given if source.endswith(".py")}
    return to_script(recording, credentials=stored.config.get("credentials", {}), modules=modules)


def _tell(recording: Recording, path: Path | None, text: str, *, as_script: bool, as_json: bool) -> None:
    calls, hidden = len(recording.trace.calls), recording.secrets
    if path is None and as_script:
        (print_json if as_json else print_text)(text.rstrip("\n"))
    elif path is None:
        click.echo(text, nl=False)
    elif as_json:
        print_json({"run": recording.run, "file": str(path), "calls": calls, "redacted": list(hidden)})
    else:
        use = f"run it with: python {path}" if as_script else f"replay it with: atc runs replay {path}"
        say(f"run {recording.run} ({recording.status}, {count(calls, 'call')}) written to {path}; {use}")
    if hidden:
        said = count(len(hidden), "sensitive value")
        say(f"{said} in it: replaced by placeholders such as {hidden[0]}.")
