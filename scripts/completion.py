"""Write the outline of all commands from which shells complete: python scripts/completion.py.

Run it when a command, an option or the help of one has changed; a test compares the outline with
the commands.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

from atc.cli.completion_reply import OUTLINE
from atc.cli.main import cli
from atc.core.config import METHODS, SETTINGS, STRATEGIES
from atc.models import SUGGESTIONS
from atc.models.model_files import LOCAL_MODELS
from atc.models.prices import LIST_PRICES
from sandbox.choose import AUTO, NAMES

_NAMED = [*LOCAL_MODELS, *(f"ollama:{name}" for name in SUGGESTIONS), *LIST_PRICES]
MODELS = [name for name in dict.fromkeys(_NAMED) if name != "none"]
VALUES: dict[str, Any] = {
    "--model": MODELS,
    "--strategy": STRATEGIES,
    "--method": [AUTO, *METHODS],
    "--sandbox": [AUTO, *NAMES],
    "--tools": "file",
    "--after": "run",
    "KEY VALUE [KEY VALUE]...": SETTINGS,
    "KEY...": SETTINGS,
    "SRC...": "file",
    "RUN": "run",
    "[RUN]": "run",
    "[RUN]...": "run",
    "PROGRAM": "file",
    "SOURCE": "file",
    "FILE": "file",
    "FILES...": "file",
}
"""The values of parameters, keyed by the option, or by the argument as the help shows it.

`file` and `run` stand for the files and runs of the user.
"""


def outline() -> str:
    """Return the outline as JSON, with a line for each command and parameter."""
    context = click.Context(cli, info_name="atc")
    entries = []
    for path, entry in _describe_all(cli, context, ""):
        params = "".join(f"\n  {json.dumps(one)}," for one in entry.pop("params")).rstrip(",")
        head = json.dumps(entry).removesuffix("}")
        entries.append(f'{json.dumps(path)}: {head}, "params": [{params}]}}')
    return "{\n" + ",\n".join(entries) + "\n}\n"


def _describe_all(
    command: click.Command, context: click.Context, path: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the entry of a command, and those of all its subcommands, each with its path."""
    is_group = isinstance(command, click.Group)
    names = command.list_commands(context) if is_group else []
    params = [_describe(one, context) for one in command.params if not getattr(one, "hidden", 0)]
    yield path, {"help": command.get_short_help_str(80), "commands": names, "params": params}
    for name in names:
        below = command.get_command(context, name)
        inner = click.Context(below, info_name=name, parent=context)
        yield from _describe_all(below, inner, f"{path} {name}".lstrip())


def _describe(parameter: click.Parameter, context: click.Context) -> dict[str, Any]:
    """Return the entry of a parameter of a command."""
    if isinstance(parameter, click.Argument):
        key = parameter.make_metavar(context)
        entry = {"name": parameter.name, "nargs": parameter.nargs}
    else:
        key = max(parameter.opts, key=len)
        entry = {
            "options": ["/".join([key, *parameter.secondary_opts]), *_short(parameter)],
            "flag": parameter.is_flag,
            "nargs": parameter.nargs,
            "multiple": parameter.multiple,
            "help": (parameter.help or "").partition(". ")[0].partition("; ")[0].rstrip("."),
        }
    match parameter.type:
        case click.Choice(choices=choices):
            values: Any = list(choices)
        case click.Path():
            values = "file"
        case _:
            values = VALUES.get(key, [])
    return entry | {"values": values}


def _short(option: click.Option) -> list[str]:
    """Return the short names of an option, such as `-o`."""
    return [name for name in option.opts if not name.startswith("--")]


if __name__ == "__main__":
    OUTLINE.write_text(outline(), encoding="utf-8")
