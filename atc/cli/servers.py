"""MCP servers on the command line: those of the settings, and asking before a command is started."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from atc.cli.output import escape_controls
from atc.cli.settings import read_value
from atc.config import Config, InvalidConfig

if TYPE_CHECKING:
    from protocols.mcp.server import McpServer


def configured_servers(config: Config, talk: Callable[[str], None]) -> dict[str, McpServer]:
    """The servers of the settings; one whose variables cannot be read is told of and left out."""
    from protocols.mcp.server import McpServer

    servers = {}
    for name, entry in config.mcp.items():
        try:
            env = {key: read_value(f"mcp.{name}.env.{key}", value) for key, value in entry.env.items()}
        except InvalidConfig as error:
            talk(str(error))
            continue
        servers[name] = McpServer(
            command=entry.command, url=entry.url, environment=env, credential=entry.credential, trusted=entry.trusted
        )
    return servers


def confirmer(config: Config) -> Callable[[McpServer], bool] | None:
    """Agrees to every command where the user said so, else asks on the terminal; None where there is nobody to ask."""
    if config.start_servers:
        return lambda _: True
    terminal = sys.stdin is not None and sys.stdin.isatty() and sys.stderr is not None and sys.stderr.isatty()
    return _ask if terminal else None


def _ask(server: McpServer) -> bool:
    shown = escape_controls(server.shown)
    click.echo(f"An MCP server is to be started on this machine, with your rights:\n  {shown}", err=True)
    return click.confirm("Start it?", default=False, err=True)
