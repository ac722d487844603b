"""`atc serve`: start the gateway, an MCP server through which another agent uses the tools."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import closing, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import click
from click.core import ParameterSource

from atc.cli import options
from atc.cli.output import as_json, print_json, print_result, say
from atc.cli.wiring import open_agent
from atc.core.quoting import command
from atc.serve.client_configs import CLIENTS, TOKEN, config_for
from atc.serve.gateway import Gateway
from atc.serve.gateway_limits import GatewayLimits
from atc.settings.reading import load_config
from protocols.secrets.sources import mask_source
from protocols.sources import absolute_source

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server  # needs the extra `mcp`

_MOST_ANNOUNCED = 500
"""Maximum number of runs that are announced on stderr.

The number is limited because a client that does not read stderr must not block the gateway.
"""


def _address(
    _ctx: click.Context, _option: click.Parameter, value: str | None
) -> tuple[str, int] | None:
    """Return the host and the port of `HOST:PORT`; the host defaults to 127.0.0.1."""
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
@options.call_limit_options
@click.option(
    "--max-seconds", type=options.POSITIVE, default=120.0, metavar="S", help="Of one program (120)."
)
@click.option(
    "--max-calls", type=click.IntRange(0), metavar="N", help="Tool calls of one program (500)."
)
@click.option(
    "--as",
    "as_",
    type=click.Choice(["programs", "tools"]),
    default="programs",
    show_default=True,
    help="What clients see: the gateway's own tools, or each API tool as an MCP tool.",
)
@click.option(
    "--print-config",
    "client",
    type=click.Choice(CLIENTS),
    help="Print what to paste into an agent.",
)
def serve(
    *,
    address: tuple[str, int] | None,
    hosts: tuple[str, ...],
    max_seconds: float,
    as_: str,
    client: str | None,
    share_learned: bool,
    **flags: Any,
) -> None:
    """Let another agent act on the tools by programs, over MCP.

    The agent, the client, starts this command and talks to it over stdin and stdout, or connects
    over HTTP. The client's programs are checked, run in the sandbox and recorded like those of 'atc
    run'. Before a write, the person at the client is asked, unless --allow-writes allows it. Over
    HTTP, the client sends the bearer token in ATC_SERVE_TOKEN; if that is not set, a random token
    is made and printed. --json prints the address and the token, or the configuration.
    """
    if client is not None:
        _print_client_config(client, address)
        return
    if as_json() and address is None:
        raise click.UsageError(
            "--json needs --http or --print-config: over stdio, stdout belongs to the client"
        )
    config = load_config(flags)
    if address is None and sys.stdin.isatty():
        say(
            "An MCP client is expected on stdin; --print-config shows how one starts this."
            " Ctrl-C ends it."
        )
    # Imported before other modules of the extra `mcp`, so that the message names this extra if its
    # packages are missing.
    from mcp.server.stdio import stdio_server

    from atc.serve.server import gateway_server, tools_server

    async def serve_stdio() -> None:
        async with stdio_server() as (read, write):
            # Stdout belongs to the client. What a Python tool prints is not a message.
            with redirect_stdout(sys.stderr):
                await server.run(read, write, server.create_initialization_options())

    limits = GatewayLimits(run_seconds=max_seconds)
    with (
        open_agent(config, with_model=False) as agent,
        closing(
            Gateway(agent, limits=limits, share_learned=share_learned, waits=_make_notifier())
        ) as gateway,
    ):
        server = gateway_server(gateway) if as_ == "programs" else tools_server(gateway)
        if address is not None:
            _serve_http(server, address, hosts)
            return
        # A thread that reads stdin cannot be interrupted. Calls that were sent are in the journal.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        anyio.run(serve_stdio)


def _serve_http(server: Server[Any], address: tuple[str, int], hosts: tuple[str, ...]) -> None:
    """Serve over HTTP until Ctrl-C, and print the address and the token.

    Raises:
        OSError: The address is in use.
    """
    from atc.serve.http import http_app, is_loopback, serve_http  # needs the extra `mcp`

    host, port = address
    # Before the address is announced, check that it is free.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    socket.create_server(address, family=family).close()
    token = os.environ.get(TOKEN) or secrets.token_urlsafe(24)
    if not is_loopback(host):
        say(
            f"{host} is reached from other machines: put TLS before it, the token goes in plain"
            " text otherwise."
        )
    url = _url(address)
    say(f"Serving MCP at {url}")
    if as_json():
        print_json({"url": url, "token": token})
    elif TOKEN not in os.environ:
        say(f"Bearer token: {token}")
    app = http_app(server, host=host, port=port, token=token, hosts=hosts)
    serve_http(app, host=host, port=port)


def _print_client_config(client: str, address: tuple[str, int] | None) -> None:
    """Print the configuration that makes the agent `client` use this gateway.

    The agent connects to `address`, or starts the gateway itself if that is None.
    """
    words = _command()
    safe = [mask_source(word) for word in words]
    if safe != words:
        say(
            "The secret in a source's address is left out (***), since all users of this machine"
            " can read the arguments of a program: name that source under 'tools' in your settings"
            " file instead of --tools."
        )
    text = config_for(client, safe, url="" if address is None else _url(address))
    print_result({"client": client, "config": text}, text)


def _url(address: tuple[str, int]) -> str:
    """Return the URL of the gateway at a host and port."""
    host, port = address
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/mcp"


def _make_notifier() -> Callable[[str], None]:
    """Return a function that reports on stderr that a run waits for a person, once for each run."""
    announced: set[str] = set()

    def announce(run: str) -> None:
        if run not in announced and len(announced) < _MOST_ANNOUNCED:
            announced.add(run)
            resume = command("atc", "runs", "resume", run) or "atc runs list"
            say(f"run {run} waits for a person: {resume}")

    return announce


def _command() -> list[str]:
    """Return the words of the command that starts a gateway with the options of this command.

    File paths in it are absolute, so an agent can run the command in any folder.
    """
    context = click.get_current_context()
    words = ["serve"]
    for name, value in context.params.items():
        if context.get_parameter_source(name) != ParameterSource.COMMANDLINE or name == "client":
            continue
        option = next(one for one in context.command.params if one.name == name)
        for one in value if isinstance(value, tuple) else [value]:
            words.append(option.opts[0] if one is not False else option.secondary_opts[0])
            if not isinstance(one, bool):
                words.append(absolute_source(one) if name == "tools" else str(one))
    own = Path(sys.argv[0]).absolute()
    return [shutil.which("atc") or (str(own) if own.is_file() else "atc"), *words]
