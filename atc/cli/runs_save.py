"""`atc runs save`: a solved program as a tool that other programs can call."""

from __future__ import annotations

from contextlib import closing

import click

from atc.cli.options import force_option, json_option
from atc.cli.output import has_person, json_text, print_or_say
from atc.cli.settings import load_config
from atc.cli.state import open_store, saved_folder
from atc.saved import Savable
from protocols.files import write_whole
from protocols.jsontypes import Json
from protocols.protocol import dump
from sandbox.choose import open_sandbox

_EPILOG = """\b
Examples:
  atc runs save last --as-tool busiest_day
  atc runs save last --as-tool busiest_day --parameter origin=JFK --parameter year=2013
"""


@click.command("save", epilog=_EPILOG)
@click.argument("run")
@click.option("--as-tool", "name", required=True, metavar="NAME", help="What programs call it.")
@click.option("--parameter", "given", multiple=True, metavar="NAME=LITERAL", help="A literal to be given. Repeatable.")
@force_option
@json_option
def save(run: str, *, name: str, given: tuple[str, ...], force: bool, as_json: bool) -> None:
    """Make the program of RUN a tool, a function of those of its literals that you choose.

    RUN is a solved run: its id, the beginning or the end of it, or 'last'. On a terminal each literal is asked about.
    The tool is checked, and run once on the run's own calls, so that nothing is called. 'atc run', 'atc check' and
    'atc serve' offer it wherever the tools that it calls are among their own.
    """
    config = load_config()[0]
    file = saved_folder(config) / f"{name}.json"
    if file.exists() and not force:
        raise click.UsageError(f"{str(file)!r} exists; give --force to replace it, or another name")
    with open_store(config) as store:
        savable = Savable(store.load(run))
    parameters = _asked(savable) if not given and has_person() else _named(savable, given)
    with closing(open_sandbox(config.sandbox, policy=config.policy)) as opened:
        protocol = savable.tool(name, parameters, "", opened)
    write_whole(file, json_text(dump(protocol), indent=1) + "\n", mode=0o600)
    told = f"{name}({', '.join(parameters)}) written to {file}; deleting the file forgets it."
    print_or_say({"tool": name, "file": str(file), "protocol": dump(protocol)}, told, as_json=as_json)


def _named(savable: Savable, given: tuple[str, ...]) -> dict[str, Json]:
    parameters: dict[str, Json] = {}
    for text in given:
        name, equals, literal = text.partition("=")
        if not name or not equals or name in parameters:
            raise click.UsageError(f"--parameter {text!r}: give each once, as NAME=LITERAL, such as origin=JFK")
        parameters[name] = savable.literal(literal)
    return parameters


def _asked(savable: Savable) -> dict[str, Json]:
    """The parameters that a person names."""
    parameters: dict[str, Json] = {}
    for shown, value in savable.literals.items():
        question = f"Is {shown} a parameter? Its name, or Enter if it stays"
        while name := click.prompt(question, default="", show_default=False, err=True):
            if parameters.setdefault(name, value) is value:
                break
            click.echo(f"Another is called {name!r}.", err=True)
    return parameters
