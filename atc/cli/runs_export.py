"""`atc runs export`: a run as a file that runs again, or its program as a script."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from atc.cli.options import json_option
from atc.cli.output import count, json_text, print_json, print_text, say
from atc.cli.settings import load_config
from atc.cli.wiring import open_store, open_toolbox
from protocols.files import write_whole
from protocols.jsontypes import dumps

if TYPE_CHECKING:
    from atc.recording.recording import Recording
    from atc.store.stored import StoredRun
    from protocols.jsontypes import Json
    from protocols.protocol import ToolProtocol


@click.command("export", epilog="Example: atc runs export last -o run.json")
@click.argument("run")
@click.option("-o", "--output", "path", type=click.Path(path_type=Path), help="File to write, else stdout.")
@click.option("--python", "as_script", is_flag=True, help="The solved program as a script of its own.")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@click.option("--tools", multiple=True, metavar="SRC", help="The run's tools, where an older atc did not store them.")
@json_option
def export(run: str, *, path: Path | None, as_script: bool, force: bool, tools: tuple[str, ...], as_json: bool) -> None:
    """Write RUN as a file for 'atc runs replay': its program, what its calls were answered, and how it ended.

    RUN is an id, the beginning or the end of one, or 'last'. Credentials are never in it; sensitive values of
    arguments and results stand as placeholders. All else that the tools answered does stand in it, so the file is
    readable for you alone.
    """
    if path is not None and path.exists() and not force:
        raise click.UsageError(f"{str(path)!r} exists; give --force to replace it, or another file")
    with open_store(load_config()[0]) as store:
        stored = store.load(run)
    recording = recorded(stored, tools)
    text = _script(recording, stored) if as_script else _run_file(recording)
    if path is not None:
        write_whole(path, text, mode=0o700 if as_script else 0o600)
    _tell(recording, path, text, as_script=as_script, as_json=as_json)


def recorded(stored: StoredRun, sources: tuple[str, ...] = ()) -> Recording:
    """The recording of a stored run, with the tools that were stored with it unless `sources` are given."""
    from atc.recording.make import record

    return record(stored, _protocols(stored, sources))


def _protocols(stored: StoredRun, sources: tuple[str, ...]) -> Mapping[str, ToolProtocol]:
    if not sources and (stored.protocols or not stored.calls):
        return stored.protocols
    config = load_config({"tools": sources or tuple(stored.config.get("tools", ()))})[0]
    with open_toolbox(config, talk=say) as toolbox:
        return {alias: tool.protocol for alias, tool in toolbox.items()}


def _run_file(recording: Recording) -> str:
    """The recording as JSON text, a call or a tool on one line, so that two files can be compared line by line."""
    from atc.recording.document import to_document

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
    from atc.recording.script import to_script

    given = [source.rpartition("=")[2] for source in stored.config.get("tools", ())]
    modules = {Path(source).stem: source for source in given if source.endswith(".py")}
    return to_script(recording, credentials=stored.config.get("credentials", {}), modules=modules)


def _tell(recording: Recording, path: Path | None, text: str, *, as_script: bool, as_json: bool) -> None:
    calls = count(len(recording.trace.calls), "call")
    if path is not None and as_json:
        print_json(
            {
                "run": recording.run,
                "file": str(path),
                "calls": len(recording.trace.calls),
                "redacted": list(recording.secrets),
            }
        )
    elif path is not None:
        use = f"run it with: python {path}" if as_script else f"replay it with: atc runs replay {path}"
        say(f"run {recording.run} ({recording.status}, {calls}) written to {path}; {use}")
    elif as_script and as_json:
        print_json(text)
    elif as_script:
        print_text(text.rstrip("\n"))
    else:
        click.echo(text, nl=False)
    if recording.secrets:
        hidden = count(len(recording.secrets), "sensitive value")
        say(f"{hidden} in it: replaced by placeholders such as {recording.secrets[0]}.")
