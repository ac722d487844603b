"""`atc config`: the settings and where they come from."""

from __future__ import annotations

import shlex
from typing import Any

import click

from atc.cli.options import json_option
from atc.cli.output import print_columns, print_json, say
from atc.cli.settings import PROJECT_FILE, load_config, user_config_file
from atc.config import public


@click.group()
def config() -> None:
    """Show the settings and where they come from.

    A flag wins over an ATC_* variable, this over ./atc.toml, this over the user's file, this over the default.
    """


@config.command(epilog="Example: ATC_MAX_REPAIRS=1 atc config show")
@json_option
def show(*, as_json: bool) -> None:
    """Every setting with its value and its origin. Secrets are never shown."""
    settings, origins = load_config()
    values = public(settings)
    credentials = values.pop("credentials")
    values |= {f"credentials.{name}": entry for name, entry in credentials.items()}
    values |= {f"mcp.{name}": entry for name, entry in values.pop("mcp").items()}
    if as_json:
        print_json({key: {"value": value, "from": origins[key]} for key, value in values.items()})
        return
    print_columns((key, _shown(value), origins[key]) for key, value in values.items())
    say(f"Settings are read from {user_config_file()} and ./{PROJECT_FILE}, where they exist.")


def _shown(value: Any) -> str:
    match value:
        case None:
            return "-"
        case []:
            return "-"
        case list():
            return ", ".join(value)
        case {"command": command, "url": url}:
            return shlex.join(command) or url
        case dict():
            return f"{value['value']} for {', '.join(value['hosts'])} in {value['place']} {value['name']}"
        case _:
            return str(value)
