"""`atc serve`: the gateway through which another agent uses the tools."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import click
from click.core import ParameterSource

from atc.cli import options
from atc.cli.output import as_json, print_json, print_result, say
from atc.cli.settings import load_config
from atc.cli.wiring import open_agent
from atc.core.quoting import command
from atc.serve.client_configs import CLIENTS, TOKEN, config_for
from atc.serve.gateway import Gateway, GatewayLimits
from protocols.secrets.sources import mask_source
from protocols.sources import absolute_source

_MOST_TOLD = 500
"""How many runs stderr mentions. A client that does not read stderr must not block the gateway."""


def _address(
    _ctx: click.Context, _option: click.Parameter, value: str | None
) -> tuple[str, int] | None:
    """Return the host and the port of an address; a port alone is one of 127.0.0.1."""
    if value is None:
        return None
    host, _, port = value.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise click.BadParameter(
            f"{value!r} is no address; write HOST:PORT, such as 127.0.0.1:8787."
        )
    return host.strip("[]") or "127.0.0.1", int(port)


@click.command(
    cls=options.Verb,
    examples=[
        "atc serve --tools openapi.json --print-config claude",
        "atc serve --tools openapi.json",
        "ATC_SERVE_TOKEN=... atc serve --tools openapi.json --http 127.0.0.1:8787",
    ],
)
@options.tools_options
@click.option(
    "--http",
    "address",
    callback=_address,
    metavar="HOST:PORT",
    help="Streamable HTTP there, at /mcp.",
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="Host name that clients use. Repeatable.",
)
@options.allow_writes_option
@options.trust_option
@options.learn_option
@click.option(
    "--share-learned",
    is_flag=True,
    help="Show each HTTP client the response shapes that other clients' calls showed.",
)
@options.sandbox_option
@click.option(
    "--max-seconds", type=options.POSITIVE, default=120.0, metavar="S", help="Of one program (120)."
)
@click.option(
    "--max-calls", type=click.IntRange(0), metavar="N", help="Tool calls of one program (500)."
)
@click.option("--as", "as_", type=click.Choice(["programs", "tools"]), default="programs", show_default=True,
              help="What clients see: the gateway's own tools, or each API tool as an MCP tool.")  # fmt: skip
@click.option(
    "--print-config",
    "client",
    type=click.Choice(CLIENTS),
    help="Print what to paste into an agent.",
)
def serve(
    *, address: tuple[str, int] | None, hosts: tuple[str, ...], max_seconds: float, as_: str, client: str | None,
    share_learned: bool, **flags: Any,
) -> None:  # fmt: skip
    """Let another agent act on the tools by programs, over MCP.

    A client starts it and talks over stdin and stdout, or connects over HTTP. Programs are checked, run in the sandbox
    and journaled as those of 'atc run'. A write asks the person at the client, or needs --allow-writes. Over HTTP a
    client sends the bearer token of ATC_SERVE_TOKEN; where that is not set, one is drawn and printed.
    --json prints address and token, or the configuration.
    """
    url = (
        ""
        if address is None
        else f"http://{f'[{address[0]}]' if ':' in address[0] else address[0]}:{address[1]}/mcp"
    )
    if client is not None:
        words = _command()
        safe = [mask_source(word) for word in words]
        if safe != words:
            say(
                "The secret in a source's address is left out (***), since all users of this machine can read the"
                " arguments of a program: name that source under 'tools' in your settings file instead of --tools."
            )
        text = config_for(client, safe, url=url)
        print_result({"client": client, "config": text}, text)
        return
    if as_json() and address is None:
        raise click.UsageError(
            "--json needs --http or --print-config: over stdio, stdout belongs to the client"
        )
    config = load_config(flags)
    if address is None and sys.stdin.isatty():
        say(
            "An MCP client is expected on stdin; --print-config shows how one starts this. Ctrl-C ends it."
        )
    # mcp first: what the core lacks is named by the extra that brings it.
    from mcp.server.stdio import stdio_server

    from atc.serve.http import http_app, is_loopback, serve_http
    from atc.serve.server import gateway_server, tools_server

    async def over_stdio() -> None:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    with open_agent(config, given=True) as agent:
        limits = GatewayLimits(run_seconds=max_seconds)
        gateway = Gateway(agent, limits=limits, share_learned=share_learned, waits=_make_notifier())
        server = gateway_server(gateway) if as_ == "programs" else tools_server(gateway)
        if address is None:
            # A thread that reads stdin cannot be interrupted; what a program had sent stands in the journal.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            anyio.run(over_stdio)
            return
        host, port = address
        # An address that is taken is told of before it is announced.
        socket.create_server(
            address, family=socket.AF_INET6 if ":" in host else socket.AF_INET
        ).close()
        token = os.environ.get(TOKEN) or secrets.token_urlsafe(24)
        if not is_loopback(host):
            say(
                f"{host} is reached from other machines: put TLS before it, the token goes in plain text otherwise."
            )
        say(f"Serving MCP at {url}")
        if as_json():
            print_json({"url": url, "token": token})
        elif TOKEN not in os.environ:
            say(f"Bearer token: {token}")
        serve_http(
            http_app(server, host=host, port=port, token=token, hosts=hosts), host=host, port=port
        )


def _make_notifier() -> Callable[[str], None]:
    """Return a function that tells the person, once for each run, that a run waits for them.

    It writes to stderr, which no agent reads.
    """
    told: set[str] = set()

    def tell(run: str) -> None:
        if run not in told and len(told) < _MOST_TOLD:
            told.add(run)
            say(
                f"run {run} waits for a person: {command('atc', 'runs', 'resume', run) or 'atc runs list'}"
            )

    return tell


def _command() -> list[str]:
    """Return the command by which an agent starts this gateway over stdio, with these options and
    absolute paths.
    """
    context = click.get_current_context()
    words = ["serve"]
    for name, value in context.params.items():
        if context.get_parameter_source(name) != ParameterSource.COMMANDLINE or name == "client":
            continue
        option = next(one for one in context.command.params if one.name == name)
        for one in value if isinstance(value, tuple) else [value]:
            words.append(option.opts[0] if one is not False else option.secondary_opts[0])
            words += (
                []
                if isinstance(one, bool)
                else [absolute_source(one) if name == "tools" else str(one)]
            )
    own = Path(sys.argv[0]).absolute()
    return [shutil.which("atc") or (str(own) if own.is_file() else "atc"), *words]
