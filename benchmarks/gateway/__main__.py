"""What the gateway is measured by: side by side with others, and under load.

    python -m benchmarks.gateway compare --tasks 100 --seed 0 --rival-python VENV/bin/python [--toolplane COMMAND]
    python -m benchmarks.gateway load --clients 50 --programs 2000 [--rival-python VENV/bin/python]

`--rival-python` is a Python with `fastmcp[code-mode]`; `--toolplane` the command of the PyPI package of that name.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import anyio
import click

from benchmarks.gateway import compare, gateways, load
from benchmarks.runner import suite

_RIVAL = click.option("--rival-python", metavar="PATH")


@click.group(help=__doc__)
def main() -> None:
    click.echo(f"load average {os.getloadavg()[0]:.2f}, {os.cpu_count()} cores", err=True)


@suite
@_RIVAL
@click.option("--toolplane", metavar="COMMAND")
@click.option("--tasks", default=100, show_default=True)
@click.option("--seed", default=0, show_default=True)
@click.option("--tools", type=int, multiple=True, default=(10, 10_000), show_default=True, help="Generated APIs' size.")
def side_by_side(
    rival_python: str | None, toolplane: str | None, tasks: int, seed: int, tools: tuple[int, ...]
) -> dict[str, Any]:
    """The same programs, faults and lost answers for each gateway."""
    opens: list[compare.Open] = [gateways.atc]
    if rival_python:
        opens.append(partial(gateways.fastmcp, python=rival_python))
        if toolplane:
            opens.append(partial(gateways.toolplane, command=toolplane, python=rival_python))
    rows = anyio.run(partial(compare.compare, opens, tasks=tasks, seed=seed, counts=tools))
    return {"suite": "gateway", "figures": compare.figures(rows), "rows": rows}


@suite
@_RIVAL
@click.option("--clients", default=50, show_default=True)
@click.option("--programs", default=2000, show_default=True)
def under_load(rival_python: str | None, clients: int, programs: int) -> dict[str, Any]:
    """Many clients at once over HTTP."""
    rows = load.measure(clients=clients, programs=programs, rival_python=rival_python)
    return {"suite": "gateway-load", "gateways": rows}


main.add_command(side_by_side, "compare")
main.add_command(under_load, "load")

if __name__ == "__main__":
    main()
