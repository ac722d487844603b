"""`atc config`: show each setting and where it comes from, and trust a folder's `atc.toml`.

`atc.cli.config_set` changes settings.
"""

from __future__ import annotations

from pathlib import Path

import click

from atc.cli.config_set import set_, unset
from atc.cli.options import FILE, VerbGroup
from atc.cli.output import json_text, print_result, say
from atc.core.config import TABLES, public
from atc.settings.files import PROJECT_FILE, project_file, read_file, user_config_file
from atc.settings.files import trust as trust_file
from atc.settings.reading import read_settings


def _settings_file(_ctx: click.Context, _param: click.Parameter, path: Path) -> Path:
    """Return the path of an `atc.toml`. `path` is that of the file itself or of its folder."""
    return project_file(path.parent if path.name == PROJECT_FILE else path)


_path_argument = click.argument(
    "path", default=".", metavar="[PATH]", type=FILE, callback=_settings_file
)


@click.group(cls=VerbGroup)
def config() -> None:
    """Show and change the settings.

    A flag overrides an ATC_* variable, which overrides ./atc.toml, which overrides the user's
    settings file, which overrides the default. Until you trust ./atc.toml, it may only lower limits
    and name tools that are described by data files; any other setting in it is an error.
    """


config.add_command(set_)
config.add_command(unset)


@config.command(examples=["ATC_MAX_REPAIRS=1 atc config show"])
def show() -> None:
    """Show every setting with its value and its origin. Secrets are never shown."""
    settings, origins, refused = read_settings()
    if refused:
        say(f"Refused: {refused}")
    values = public(settings)
    for table in TABLES:
        values |= {f"{table}.{name}": entry for name, entry in values.pop(table).items()}
    document = {key: {"value": value, "from": origins[key]} for key, value in values.items()}
    rows = [
        (key, value if isinstance(value, str) else json_text(value), origins[key])
        for key, value in values.items()
    ]
    print_result(document, rows)
    say(f"Settings are read from {user_config_file()} and ./{PROJECT_FILE}, where they exist.")


@config.command(examples=["atc config trust"])
@_path_argument
def trust(path: Path) -> None:
    """Trust the atc.toml of a folder (this one, or PATH) until its content changes. Read it first.

    Then all settings in the file are used, including the code and the commands that it names, even
    if that code changes later.
    """
    file = read_file(path)
    if file is None:
        raise click.UsageError(f"there is no {str(path)!r} to trust")
    trust_file(path, file.digest)
    print_result({"file": str(path), "trusted": True, "sets": list(file.values)})
    say(f"Trusted until it changes: {path}. It sets: {', '.join(file.values) or 'nothing'}.")


@config.command(examples=["atc config untrust"])
@_path_argument
def untrust(path: Path) -> None:
    """Stop trusting the atc.toml of a folder (this one, or PATH)."""
    trust_file(path, None)
    print_result({"file": str(path), "trusted": False})
    say(f"No longer trusted: {path}.")
