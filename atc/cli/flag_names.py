"""The names of tools in the options of the running command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from atc.cli.output import say
from atc.core.config import InvalidConfig
from atc.safety.taint.trusted import require_trusted_tools
from protocols.errors import UnknownTool
from protocols.toolbox import Toolbox


def command_params() -> Mapping[str, Any]:
    """Return the values of the running command's options, keyed by name.

    The result is empty in a thread without a click context.
    """
    context = click.get_current_context(silent=True)
    return {} if context is None else context.params


def report_unknown_names(toolbox: Toolbox) -> None:
    """Report the names in `--allow-writes` and `--trust` that no tool has.

    For `--allow-writes`, a note is printed: a source may get such a tool later. A rule of `--trust`
    without a tool is an error, because the run would still ask the user about what the rule was
    meant to allow.

    Raises:
        click.UsageError: A rule of `--trust` names no tool, or can be read in two ways.
    """
    params = command_params()
    for name in params.get("allow_writes") or ():
        if name != "all" and name not in toolbox and not toolbox.find_all(name):
            say(f"--allow-writes: {UnknownTool(name, list(toolbox))}")
    try:
        require_trusted_tools(params.get("trust") or (), toolbox)
    except (UnknownTool, InvalidConfig) as error:
        raise click.UsageError(f"--trust: {error}") from None
