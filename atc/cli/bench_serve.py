"""`atc bench serve`: the services of the bench, for a harness or a person outside of it."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Sequence
from contextlib import ExitStack

import click

from atc.cli.agents import open_agent
from atc.cli.options import json_option
from atc.cli.output import print_columns, print_json, say
from atc.cli.settings import load_config
from atc.terminal import count
from toolflow_bench.services.serve import serve as start
from toolflow_bench.services.service import NAMES, find_service

_EPILOG = """\b
Examples:
  atc bench serve
  atc bench serve flights movies --port 8000
  atc bench serve --mcp
"""


@click.command(epilog=_EPILOG)
@click.argument("services", nargs=-1, metavar="[SERVICE]...")
@click.option("--port", type=click.IntRange(0, 65535 - len(NAMES)), default=0, metavar="P",
              help="Port of the first service, the others get the next ones; without it, free ports.")  # fmt: skip
@click.option("--mcp", type=click.IntRange(1, 65535), is_flag=False, flag_value=8790, metavar="P",
              help="Offer all operations as MCP tools, too, at http://127.0.0.1:P/mcp (8790).")  # fmt: skip
@json_option
def serve(services: tuple[str, ...], *, port: int, mcp: int | None, as_json: bool) -> None:
    """Serve the bench's services on 127.0.0.1 until Ctrl-C; without SERVICE all of them.

    Shows the address of each one's OpenAPI document. Beside its operations a service answers POST /bench/reset, GET
    /bench/state, GET /bench/log and POST /bench/faults.
    """
    chosen = [find_service(name) for name in dict.fromkeys(services or NAMES)]
    # All data first: a wheel that is missing is told before anything answers.
    databases = [service.database(None, announce=say) for service in chosen]
    with ExitStack() as stack:
        rows = []
        for number, (service, database) in enumerate(zip(chosen, databases, strict=True)):
            served = stack.enter_context(start(service.app(database), port=port and port + number))
            rows.append((service.name, len(service.operations), served.url, served.document_url))
        if as_json:
            keys = ("name", "operations", "url", "document")
            shown = {"services": [dict(zip(keys, row, strict=True)) for row in rows]}
            print_json(shown if mcp is None else shown | {"mcp": f"http://127.0.0.1:{mcp}/mcp"})
        else:
            print_columns([(name, count(size, "operation"), document) for name, size, _, document in rows])
        say("Ctrl-C ends it.")
        if mcp is None:
            threading.Event().wait()
        else:
            _serve_mcp([f"{name}={document}" for name, _, _, document in rows], mcp)


def _serve_mcp(sources: Sequence[str], port: int) -> None:
    """Offer the operations as MCP tools, each call a request to its service; a write needs no consent here."""
    from atc.serve.gateway import Gateway
    from atc.serve.http import http_app, serve_http
    from atc.serve.plain import tools_server

    token = os.environ.get("ATC_SERVE_TOKEN") or secrets.token_urlsafe(24)
    config = load_config({"tools": tuple(sources), "allow_writes": ("all",)})[0]
    with open_agent(config, given=True, warm=False) as agent:
        say(f"MCP at http://127.0.0.1:{port}/mcp, bearer token {token}")
        app = http_app(tools_server(Gateway(agent)), host="127.0.0.1", port=port, token=token)
        serve_http(app, host="127.0.0.1", port=port)
