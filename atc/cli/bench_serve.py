"""`atc bench serve`: the services of the bench, for a harness or a person outside of it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from atc.cli.options import json_option
from atc.cli.output import count, print_columns, print_json, say

if TYPE_CHECKING:
    from toolflow_bench.services.faults import Faults
    from toolflow_bench.services.service import Service

_EPILOG = """\b
Examples:
  atc bench serve
  atc bench serve flights movies --port 8000
  atc bench serve flights --faults rate_500=0.1 --faults latency_ms=20 --seed 7
"""


@click.command(epilog=_EPILOG)
@click.argument("services", nargs=-1, metavar="[SERVICE]...")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="P",
    help="Port of the first service, the others get the next ones; without it, free ports.",
)
@click.option(
    "--faults",
    "pairs",
    multiple=True,
    metavar="NAME=VALUE",
    help=(
        "Let them fail: latency_ms, rate_429, rate_500, rate_drop, rate_drop_after, rate_truncated, rate_drift (rates "
        "from 0 to 1), retry_after_seconds; repeatable."
    ),
)
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="What the faults are drawn by.")
@json_option
def serve(*, services: tuple[str, ...], port: int, pairs: tuple[str, ...], seed: int, as_json: bool) -> None:
    """Serve the bench's services on 127.0.0.1 until Ctrl-C; without SERVICE all of them.

    Shows the address of each one's OpenAPI document. Beside its operations a service answers POST /bench/reset, GET
    /bench/state, GET /bench/log and POST /bench/faults.
    """
    from toolflow_bench.services.control import set_faults
    from toolflow_bench.services.serve import serve as start

    faults = _faults(pairs, seed)
    chosen = _chosen(services)
    if port + len(chosen) - 1 > 65535:
        raise click.UsageError(f"{count(len(chosen), 'service')} from port {port} on would go beyond port 65535.")
    # All data first: a wheel that is missing is told before anything answers.
    databases = [service.database(None, announce=say) for service in chosen]
    with ExitStack() as stack:
        rows = []
        for number, (service, database) in enumerate(zip(chosen, databases, strict=True)):
            app = service.app(database)
            set_faults(app, faults)
            served = stack.enter_context(start(app, port=port and port + number))
            rows.append((service.name, len(service.operations), served.url, served.document_url))
        if as_json:
            keys = ("name", "operations", "url", "document")
            print_json(
                {
                    "services": [dict(zip(keys, row, strict=True)) for row in rows],
                    "faults": asdict(faults) if faults else None,
                }
            )
        else:
            print_columns([(name, count(size, "operation"), document) for name, size, _, document in rows])
        say("Ctrl-C ends it.")
        threading.Event().wait()


def _chosen(names: Sequence[str]) -> list[Service]:
    from toolflow_bench.services.service import NAMES, UnknownService, find_service

    try:
        return [find_service(name) for name in dict.fromkeys(names or NAMES)]
    except UnknownService as error:
        raise click.UsageError(str(error)) from error


def _faults(pairs: Sequence[str], seed: int) -> Faults | None:
    from toolflow_bench.services.faults import parse_faults

    values: dict[str, str | int] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name or not value:
            raise click.UsageError(f"--faults takes NAME=VALUE such as rate_500=0.1, got {pair!r}.")
        if name in values:
            raise click.UsageError(f"--faults gives {name!r} twice; give it once.")
        values[name] = value
    if not values:
        return None
    try:
        return parse_faults({"seed": seed, **values})
    except ValueError as error:
        raise click.UsageError(str(error)) from error
