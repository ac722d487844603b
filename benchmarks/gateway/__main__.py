"""What the gateway is measured by: side by side with others, and under load.

    python -m benchmarks.gateway compare --tasks 100 --seed 0 --rival-python VENV/bin/python [--toolplane COMMAND]
    python -m benchmarks.gateway load --clients 50 --programs 2000 [--rival-python VENV/bin/python]

`--rival-python` is a Python with `fastmcp[code-mode]`; `--toolplane` the command of the PyPI package of that name.
"""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import click

from benchmarks.gateway import compare, gateways, load

_RIVAL = click.option("--rival-python", metavar="PATH")
_JSON = click.option("--json", "out", type=click.Path(path_type=Path), metavar="FILE", help="Rows, a line each.")


@click.group(help=__doc__)
def main() -> None:
    click.echo(f"load average {os.getloadavg()[0]:.2f}, {os.cpu_count()} cores")


@main.command("compare")
@_RIVAL
@_JSON
@click.option("--toolplane", metavar="COMMAND")
@click.option("--tasks", default=100, show_default=True)
@click.option("--seed", default=0, show_default=True)
@click.option("--tools", type=int, multiple=True, default=(10, 10_000), show_default=True, help="Generated APIs' size.")
def side_by_side(
    rival_python: str | None, out: Path | None, toolplane: str | None, tasks: int, seed: int, tools: tuple[int, ...]
) -> None:
    """The same programs, faults and lost answers for each gateway."""
    opens: list[compare.Open] = [gateways.atc]
    if rival_python:
        opens.append(partial(gateways.fastmcp, python=rival_python))
        if toolplane:
            opens.append(partial(gateways.toolplane, command=toolplane, python=rival_python))
    rows = anyio.run(partial(compare.compare, opens, tasks=tasks, seed=seed, counts=tools))
    click.echo("\n".join(compare.table(rows)))
    _write(rows, out)


@main.command("load")
@_RIVAL
@_JSON
@click.option("--clients", default=50, show_default=True)
@click.option("--programs", default=2000, show_default=True)
def under_load(rival_python: str | None, out: Path | None, clients: int, programs: int) -> None:
    """Many clients at once over HTTP."""
    _write(load.measure(clients=clients, programs=programs, rival_python=rival_python), out)


def _write(rows: list[dict[str, Any]], out: Path | None) -> None:
    if out is not None:
        out.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
