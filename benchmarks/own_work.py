"""The time that `atc` itself takes: `python -m benchmarks.own_work [--runs N]`."""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click

from atc import Agent, Config, Tool, Toolbox
from atc.models.scripted import ScriptedModel
from benchmarks.local import ATC
from benchmarks.runner import suite
from protocols.sources.openapi import read_openapi
from toolflow_bench.services.document import document
from toolflow_bench.services.flights import BUILT_IN, SERVICE

PROGRAM = """```python
airports = search_airports(query="Boston")
flights = list_departures(origin="JFK", date="2013-03-05", destination=airports[0]["code"])
print(get_airport(airport=airports[0]["code"])["name"], flights["total"])
```"""
ANSWERS = {
    "search_airports": {"airports": [{"code": "BOS", "name": "Logan"}]},
    "list_departures": {"flights": [], "page": 1, "pages": 1, "total": 0},
}
AIRPORT = {
    "code": "BOS",
    "name": "Logan",
    "latitude": 0.0,
    "longitude": 0.0,
    "altitude_ft": 0,
    "time_zone": None,
    "utc_offset_hours": -5,
}


def cost_of_command(runs: int, *arguments: str, **variables: str) -> Iterator[tuple[float, float]]:
    """Yield the CPU and wall seconds of each of `runs` executions of a command.

    Each execution is a new process.
    """
    command = [sys.executable, *ATC, *arguments]
    for _ in range(runs):
        work = partial(
            subprocess.run, command, check=True, capture_output=True, env=os.environ | variables
        )
        yield _measure_cost(resource.RUSAGE_CHILDREN, work)


def cost_of_runs(runs: int) -> Iterator[tuple[float, float]]:
    """Yield the CPU seconds of this process and the wall seconds of each of `runs` agent runs.

    One more run precedes them. It starts the sandbox and is not measured.
    """
    described = document(
        BUILT_IN, info=SERVICE.info, schemas=SERVICE.schemas, server="http://localhost"
    )
    protocols = read_openapi(described, where="flights")
    chosen = [p for p in protocols if p.name in ANSWERS or p.name == "get_airport"]
    chosen += [p for p in protocols if p not in chosen][: 20 - len(chosen)]
    tools = Toolbox(
        Tool(protocol=p, call=partial(lambda name, _: ANSWERS.get(name, AIRPORT), p.name))
        for p in chosen
    )
    question = "How many flights left Kennedy for Boston on 5 March 2013?"
    with Agent(
        tools, model=ScriptedModel(*[PROGRAM] * (runs + 1)), config=Config(samples=1)
    ) as agent:
        assert agent.run(question, seed=0).status == "solved"
        for _ in range(runs):
            yield _measure_cost(resource.RUSAGE_SELF, partial(agent.run, question, seed=0))


def _measure_cost(who: int, work: Callable[[], Any]) -> tuple[float, float]:
    began = time.perf_counter()
    before = resource.getrusage(who)
    work()
    after = resource.getrusage(who)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, time.perf_counter() - began


@suite
@click.option("--runs", default=20, show_default=True)
def main(runs: int) -> dict[str, Any]:
    """Measure the overhead of `atc`.

    It is measured for `atc --help`, a run without model and tools, and a whole `atc run`.
    A run is a scripted program of three calls over 20 tools that answer at once, without a store.
    A whole `atc run` is a process with the built-in service, a program of one call and a store. CPU
    time is that of the host process; wall time includes the sandbox. All times are in milliseconds.
    """
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "replies.json"
        script.write_text(json.dumps(["```python\nprint(get_airport(airport='JFK')['name'])\n```"]))
        words = ("run", "What is JFK called?", "--model", f"scripted:{script}")
        taken = {
            "atc --help": list(cost_of_command(runs, "--help")),
            "a whole atc run": list(cost_of_command(runs, *words, ATC_STATE_DIR=folder)),
            "a run over 20 tools": list(cost_of_runs(runs)),
        }
    figures = {}
    for what, pairs in taken.items():
        for clock, seconds in zip(("CPU", "wall"), zip(*pairs, strict=True), strict=True):
            of = {"min": min(seconds), "median": statistics.median(seconds), "max": max(seconds)}
            figures[f"{what}, {clock}"] = {
                name: round(1000 * value, 1) for name, value in of.items()
            }
    return {"suite": "own_work", "runs": runs, "figures": figures}


if __name__ == "__main__":
    main()
