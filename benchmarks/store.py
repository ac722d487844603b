"""Throughput of the run stores, and duration of a write to a run's journal of calls.

Several runs are written at the same time.
Each run of 20 calls is written as a solved run would be, then read again. Both stores flush each
commit to the disk. The exit status is 1 if anything is missing afterwards.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from statistics import quantiles
from typing import Any

import click

from atc.core import events
from atc.core.program import Program
from atc.core.types import Attempt, Solution
from atc.store import RunStore, Store
from atc.store.postgres import PostgresStore
from benchmarks.postgres import server
from benchmarks.runner import suite
from protocols.protocol import ToolProtocol
from sandbox.trace import ToolCall, Trace

RESULT = {
    "items": [
        {"id": number, "name": f"item {number}", "price": 9.5 * number} for number in range(20)
    ]
}
"""About a kilobyte of JSON, as a service would return for one page of a long list."""
PROTOCOL = ToolProtocol(name="list_items", description="A page of the items.")


def open_run_store(place: str) -> RunStore:
    return PostgresStore(place) if place.startswith("postgresql://") else Store(Path(place))


def write_run(store: RunStore, number: int, calls: int) -> tuple[str, list[float]]:
    """Store a run with `calls` calls; return its id and the seconds of each journal write."""
    run = store.create(f"task {number}", model="none", strategy="given", sandbox="none")
    observe = store.observer(run)
    program = Program("".join(f"list_items(page={page})\n" for page in range(calls)))
    observe(events.ToolsNamed({"list_items": PROTOCOL}))
    observe(events.ProgramWritten(0, program, ()))
    made = []
    seconds = []
    for page in range(calls):
        intent = ToolCall(
            index=page,
            tool="list_items",
            arguments={"page": page},
            line=page + 1,
            outcome="unknown",
        )
        made.append(replace(intent, result=RESULT, outcome="done"))
        for call, complete in ((intent, False), (made[-1], True)):
            began = time.perf_counter()
            observe(events.ToolCalled(0, call, complete=complete))
            seconds.append(time.perf_counter() - began)
    attempt = Attempt(
        program, (), Trace(calls=tuple(made), stdout="5", backend="none"), None, execution=0
    )
    observe(events.AttemptEnded(0, attempt))
    store.finish(run, Solution(task="", attempts=(attempt,), status="solved", answer="5"))
    return run, seconds


def write_runs(
    place: str, numbers: Sequence[int], calls: int, at_once: int
) -> tuple[list[str], list[float]]:
    with open_run_store(place) as store, ThreadPoolExecutor(at_once) as pool:
        written = list(pool.map(lambda number: write_run(store, number, calls), numbers))
    return [run for run, _ in written], [one for _, seconds in written for one in seconds]


def measure(place: str, *, runs: int, calls: int, at_once: int, processes: int) -> dict[str, Any]:
    open_run_store(place).__exit__()  # creates the tables
    shares = [
        (place, range(number, runs, processes), calls, at_once // processes)
        for number in range(processes)
    ]
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        pool.starmap(write_runs, [(place, [-1], 1, 1)] * processes)  # imports everything
        began = time.perf_counter()
        written = pool.starmap(write_runs, shares)
        seconds = time.perf_counter() - began
    ids = [one for run, _ in written for one in run]
    writes = [one for _, took in written for one in took]
    with open_run_store(place) as store:
        found = [store.load(run) for run in ids]
    solved = [one.calls for one in found if one.summary.status == "solved"]
    kept = sum(len(made) for made in solved if all(map(attrgetter("complete"), made)))
    cuts = quantiles(writes, n=100)
    return {
        "runs a second": round(runs / seconds, 1),
        "calls a second": round(runs * calls / seconds),
        "journal write ms, median": round(cuts[49] * 1000, 2),
        "p99": round(cuts[98] * 1000, 2),
        "lost": runs * calls - kept + runs - len(set(ids)),
    }


@suite
@click.option("--runs", type=click.IntRange(1), default=1000, show_default=True)
@click.option("--calls", type=click.IntRange(1), default=20, show_default=True, help="Of each run.")
@click.option(
    "--at-once",
    type=click.IntRange(1),
    default=16,
    show_default=True,
    help="Runs that are written at once.",
)
@click.option(
    "--processes", type=click.IntRange(1), default=2, show_default=True, help="That share them."
)
def main(runs: int, calls: int, at_once: int, processes: int) -> dict[str, Any]:
    how = {"runs": runs, "calls": calls, "at_once": at_once, "processes": processes}
    with server() as running, tempfile.TemporaryDirectory(prefix="atc-store-") as folder:
        postgresql = measure(running.database(), **how)
        sqlite = measure(str(Path(folder) / "runs.sqlite"), **how)
    passed = postgresql["lost"] == sqlite["lost"] == 0
    where = {"cores": os.cpu_count(), "load": round(os.getloadavg()[0], 1)}
    return {
        "suite": "store",
        "passed": passed,
        **how,
        **where,
        "stores": {"PostgreSQL": postgresql, "SQLite": sqlite},
    }


if __name__ == "__main__":
    main()
