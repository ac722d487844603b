"""What the gateway is measured by: side by side with others, and under load.

    python -m benchmarks.gateway compare --tasks 100 --seed 0 --rival-python VENV/bin/python [--toolplane COMMAND]
    python -m benchmarks.gateway load --clients 50 --programs 2000 [--rival-python VENV/bin/python]

`--rival-python` is a Python with `fastmcp[code-mode]`; `--toolplane` the command of the PyPI package of that name.
"""

from __future__ import annotations

import argparse
import json
import os
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from benchmarks.gateway import compare, gateways, load


def main() -> None:
    """Parse the command line, measure, print a table and write the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    comparing, loading = verbs.add_parser("compare"), verbs.add_parser("load")
    for verb in (comparing, loading):
        verb.add_argument("--rival-python", metavar="PATH")
        verb.add_argument("--json", type=Path, metavar="FILE", help="rows, a line each")
    comparing.add_argument("--toolplane", metavar="COMMAND")
    comparing.add_argument("--tasks", type=int, default=100)
    comparing.add_argument("--seed", type=int, default=0)
    comparing.add_argument("--tools", type=int, nargs="*", default=[10, 10_000], help="sizes of generated APIs")
    loading.add_argument("--clients", type=int, default=50)
    loading.add_argument("--programs", type=int, default=2000)
    given = parser.parse_args()
    print(f"load average {os.getloadavg()[0]:.2f}, {os.cpu_count()} cores", flush=True)
    rows: list[dict[str, Any]]
    if given.verb == "compare":
        opens: list[compare.Open] = [gateways.atc]
        if given.rival_python:
            opens.append(partial(gateways.fastmcp, python=given.rival_python))
            if given.toolplane:
                opens.append(partial(gateways.toolplane, command=given.toolplane, python=given.rival_python))
        measure = partial(compare.compare, opens, tasks=given.tasks, seed=given.seed, counts=given.tools)
        rows = anyio.run(measure)
        print(*compare.table(rows), "", "Gold programs without a right answer:", *compare.failures(rows), sep="\n")
    else:
        rows = load.measure(clients=given.clients, programs=given.programs, rival_python=given.rival_python)
    if given.json:
        given.json.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    print(f"load average {os.getloadavg()[0]:.2f}")


if __name__ == "__main__":
    main()
