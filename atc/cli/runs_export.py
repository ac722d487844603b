"""`atc runs export` and `atc runs save`: write a run as a file, a script or a tool."""

from __future__ import annotations

import shlex
from contextlib import closing
from pathlib import Path

import click

from atc.archive.recording import make_recording, without_secrets
from atc.archive.recording.document import to_document
from atc.archive.saved_programs import Savable
from atc.cli import options, output
from atc.cli.output import json_text, print_result, say
from atc.cli.stored_settings import script_of
from atc.cli.wiring import open_store, saved_folder
from atc.core.text import count
from atc.settings.reading import load_config
from protocols.private_files import FILE_MODE, FOLDER_MODE, write_whole
from protocols.protocol import dump
from protocols.schema import Json
from sandbox.choose import open_sandbox


@click.command("export", cls=options.Verb, examples=["atc runs export last -o run.json"])
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
    """Write a run to a file that can be replayed, or as a script.

    RUN is an id, the beginning or the end of one, or 'last'. The file has the program of the run,
    the responses to its calls, and how it ended. It never contains credentials, and placeholders
    replace sensitive values in arguments and results. It contains everything else that the tools
    returned, so only you can read the file. With --html (extra 'view'), a page for people is
    written instead, which cannot be replayed.
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
        values = count(len(hidden), "sensitive value")
        say(f"{values} in it: replaced by placeholders such as {hidden[0]}.")


def _format_command(words: str, path: Path | None) -> str:
    """Return a shell command: `words`, and a file as its last argument.

    The argument is quoted for a shell. It is `-` (stdin) if `path` is None.
    """
    return f"{words} {shlex.quote(str(path or '-'))}"


@click.command(
    "save",
    cls=options.Verb,
    examples=[
        "atc runs save last --as-tool busiest_day",
        "atc runs save last --as-tool busiest_day --parameter origin=JFK --parameter year=2013",
    ],
)
@click.argument("run")
@click.option("--as-tool", "name", required=True, metavar="NAME", help="What programs call it.")
@click.option(
    "--parameter",
    "given",
    multiple=True,
    metavar="NAME=LITERAL",
    help="A literal that becomes a parameter. Repeatable.",
)
@options.force_option
def save(run: str, *, name: str, given: tuple[str, ...], force: bool) -> None:
    """Save the program of a solved run as a tool that other programs can call.

    RUN is the run's id, the beginning or the end of it, or 'last'. The program becomes a function.
    Those of its literals that you choose become the function's parameters. To check the tool, it is
    run once with the recorded results of the run's calls; no tool is called. 'atc run', 'atc check'
    and 'atc serve' offer the tool if their tools include those that it calls.
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
    """Return the parameters of a saved tool: a dictionary from name to literal of the program.

    `given` are the values of --parameter.

    Raises:
        click.UsageError: An option is not `NAME=LITERAL`, or repeats a name.
        CannotSave: The program has no such literal.
    """
    parameters: dict[str, Json] = {}
    for text in given:
        name, equals, literal = text.partition("=")
        if not name or not equals or name in parameters:
            raise click.UsageError(
                f"--parameter {text!r}: give each once, as NAME=LITERAL, such as origin=JFK"
            )
        parameters[name] = savable.literal(literal)
    return parameters
