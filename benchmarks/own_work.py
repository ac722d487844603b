"""What `atc` itself costs: CPU of `atc --help`, of a run besides the model and the tools, and of a whole `atc run`.

    python -m benchmarks.own_work [RUNS]

A run is a task over 20 tools of real shape (the flights service's protocols), a scripted reply of one program with
three calls, tools that answer at once, no store. CPU is the host's; wall includes the sandbox. A whole `atc run` is a
process of its own with the built-in service, a scripted reply of one call, and a store. Medians of RUNS.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.local import ATC

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 20
PROGRAM = """```python
airports = search_airports(query="Boston")
flights = list_departures(origin="JFK", date="2013-03-05", destination=airports[0]["code"])
print(get_airport(airport=airports[0]["code"])["name"], flights["total"])
```"""
ANSWERS = {
    "search_airports": {"airports": [{"code": "BOS", "name": "Logan"}]},
    "list_departures": {"flights": [], "page": 1, "pages": 1, "total": 0},
}


def cpu(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def of_command(*arguments: str, **variables: str) -> tuple[list[float], list[float]]:
    """CPU and wall seconds of a command, each time a fresh process."""
    command = [sys.executable, *ATC, *arguments]
    used, wall = [], []
    for _ in range(RUNS):
        began, before = time.perf_counter(), cpu(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True, env=os.environ | variables)
        used.append(cpu(resource.RUSAGE_CHILDREN) - before)
        wall.append(time.perf_counter() - began)
    return used, wall


def of_whole_runs() -> tuple[list[float], list[float]]:
    """The same of `atc run` with a scripted model over the built-in service."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "replies.json"
        script.write_text(json.dumps(["```python\nprint(get_airport(airport='JFK')['name'])\n```"]))
        return of_command("run", "What is JFK called?", "--model", f"scripted:{script}", ATC_STATE_DIR=folder)


def of_runs() -> tuple[list[float], list[float]]:
    """CPU seconds of this process, and wall seconds, of each run; the first, which starts the sandbox, left out."""
    from atc import Agent, Config, Tool, Toolbox
    from atc.models.scripted import ScriptedModel
    from protocols.sources.openapi import read_openapi
    from toolflow_bench.services.document import document
    from toolflow_bench.services.flights import BUILT_IN, SERVICE

    protocols = read_openapi(
        document(BUILT_IN, info=SERVICE.info, schemas=SERVICE.schemas, server="http://localhost"), where="flights"
    )
    chosen = [p for p in protocols if p.name in ANSWERS or p.name == "get_airport"]
    chosen += [p for p in protocols if p not in chosen][: 20 - len(chosen)]
    airport = {"code": "BOS", "name": "Logan", "latitude": 0.0, "longitude": 0.0}
    airport |= {"altitude_ft": 0, "time_zone": None, "utc_offset_hours": -5}
    tools = Toolbox(Tool(protocol=p, call=lambda _, name=p.name: ANSWERS.get(name, airport)) for p in chosen)
    used, wall = [], []
    with Agent(tools, model=ScriptedModel(*[PROGRAM] * (RUNS + 1)), config=Config(samples=1)) as agent:
        for _ in range(RUNS + 1):
            began, before = time.perf_counter(), cpu(resource.RUSAGE_SELF)
            solution = agent.run("How many flights left Kennedy for Boston on 5 March 2013?", seed=0)
            assert solution.status == "solved", solution.attempts[-1].fault
            used.append(cpu(resource.RUSAGE_SELF) - before)
            wall.append(time.perf_counter() - began)
    return used[1:], wall[1:]


def line(what: str, seconds: list[float]) -> None:
    shown = [f"{1000 * value:.1f}" for value in (min(seconds), statistics.median(seconds), max(seconds))]
    print(f"{what:44} min {shown[0]:>6}  median {shown[1]:>6}  max {shown[2]:>6} ms")


print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, {RUNS} runs")
line("atc --help, CPU of the process", of_command("--help")[0])
used, wall = of_whole_runs()
line("a whole atc run, CPU of its processes", used)
line("a whole atc run, wall", wall)
used, wall = of_runs()
line("a run over 20 tools, CPU of the host", used)
line("a run over 20 tools, wall", wall)
