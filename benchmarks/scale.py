"""Cost and reliability of Ray clusters for benchmarks, indexes and probing.

`gold` runs ToolFlow's 507 gold programs locally, on one node and on two: the rows must be equal.
Items that do nothing show the time that Ray itself takes. `kills` kills a worker, a node or the
command during a run: every row must be there once. `index` embeds perturbed descriptions locally
and on two nodes: the searches must give equal results. `probe` documents 20 services at once, of
which 2 are slow and 1 is dead; their logs show the request rates. Nodes are processes of this
machine. The exit status is 1 if a requirement is not met.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import Any

import click
import numpy as np
from ray.cluster_utils import Cluster
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from atc.core.ray_pool import RayPool, connect_cluster
from atc.pipeline.retrieve.document import ToolDocument, vector_text
from atc.pipeline.retrieve.embed import choose_embedder, open_embedder
from atc.pipeline.retrieve.embedders import DEFAULT, MODELS
from atc.pipeline.retrieve.index import ToolIndex
from benchmarks.local import ATC
from benchmarks.runner import suite
from toolflow_bench.metrics import Row
from toolflow_bench.rows import read_rows
from toolflow_bench.services.serve import RunningService, serve
from toolflow_bench.settings import CATALOGUE, draw_distractors
from toolflow_bench.task import load_tasks, to_document

# Ray runs its workers at a lower priority (nice), but the local workers in the comparison do not.
os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112 - Ray's spelling
CORES = 2
"""Number of workers in each experiment.

The machine on which the published figures were measured has so many cores.
"""
_LEFT_OUT = ("hard", "impossible")
"""Splits that were added after the published figures were measured with 507 tasks."""
_COMPARED = ("id", "repeat", "correct", "status", "calls", "path", "precision", "state", "programs")


@contextmanager
def cluster(nodes: int) -> Iterator[Cluster]:
    """Run a Ray cluster of `nodes` nodes, which share the cores of this machine."""
    head = {"num_cpus": CORES // nodes, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args=head)
    for _ in range(nodes - 1):
        made.add_node(num_cpus=CORES // nodes)
    try:
        yield made
    finally:
        made.shutdown()


@contextmanager
def folder_of(count: int | None = None, *, seed: int = 0) -> Iterator[Path]:
    """Yield a temporary folder with a file of the 507 tasks, or of a sample of `count` tasks.

    Callers may store their rows in the folder too.
    """
    every = [task for task in load_tasks() if task.id.split("/")[0] not in _LEFT_OUT]
    some = every if count is None else random.Random(seed).sample(every, count)
    with tempfile.TemporaryDirectory(prefix="atc-scale-") as name:
        (Path(name) / "tasks").mkdir()
        lines = [json.dumps(to_document(task)) for task in some]
        (Path(name) / "tasks" / "some.jsonl").write_text("\n".join(lines) + "\n")
        yield Path(name)


def command(folder: Path, out: Path, *more: str) -> subprocess.Popen[str]:
    """Start the command `atc bench run`, which runs the gold programs of the tasks in `folder`."""
    words = [
        "bench",
        "run",
        "toolflow",
        "--data",
        folder / "tasks",
        "--strategy",
        "gold",
        "--out",
        out,
        *more,
    ]
    pipes: dict[str, Any] = {"stderr": subprocess.PIPE, "stdout": subprocess.DEVNULL}
    return subprocess.Popen([sys.executable, *ATC, *map(str, words)], text=True, **pipes)


def run_benchmark(
    folder: Path, name: str, *more: str
) -> tuple[list[dict[str, Any]], dict[str, float]]:
    """Run the gold programs. Return the rows without time-dependent fields, and the duration.

    The duration is counted in seconds, both from the start and from the first row.
    """
    out = folder / f"{name}.jsonl"
    begun = time.monotonic()
    first = 0.0
    process = command(folder, out, *more)
    for line in process.stderr or ():
        if not first and " calls  " in line:
            first = time.monotonic()
    ended = time.monotonic()
    assert process.wait() == 0, f"{name} ended with {process.returncode}"
    rows = list(map(_comparable_fields, sorted(read_rows(out)[1], key=lambda row: row.id)))
    return rows, {"seconds": round(ended - begun, 1), "from_first_row": round(ended - first, 1)}


def _comparable_fields(row: Row) -> dict[str, Any]:
    """Return the fields of a row (result) that must not depend on the machine that computed it."""
    return {key: getattr(row, key) for key in _COMPARED}


def _best_positions(index: Any, queries: list[str]) -> list[list[int]]:
    """Return, for each query, the positions of its ten best tools in the index."""
    return [hits.positions.tolist() for hits in index.top(queries, n=10)]


def _count_in_second(times: Sequence[float], since: float) -> int:
    """Return how many of the times are in the second that begins at `since`."""
    return sum(since <= at < since + 1 for at in times)


def measure_idle_item(count: int) -> float:
    """Return how many milliseconds Ray takes for a work item that does nothing."""

    @contextmanager
    def idle() -> Iterator[Any]:
        yield lambda item: item

    pool = RayPool()
    warm = list(pool(idle, range(20)))
    begun = time.monotonic()
    assert sorted(pool(idle, range(count))) == list(range(count)), warm
    return (time.monotonic() - begun) / count * 1000


def service(delay: float) -> tuple[RunningService, list[float]]:
    """Start a service that lists five users, with a delay of `delay` seconds before each response.

    Return the running service, and a list to which it adds the arrival time of each request.
    """
    arrived: list[float] = []

    async def users(request: Request) -> JSONResponse:
        arrived.append(time.monotonic())
        await asyncio.sleep(delay)
        every = [{"id": f"u{number}", "age": 30 + number} for number in range(5)]
        return JSONResponse(
            (request.path_params and {"id": request.path_params["id"], "age": 31}) or every
        )

    return serve(Starlette(routes=[Route("/users", users), Route("/users/{id}", users)])), arrived


@suite
@click.option("--tasks", "count", type=int, help="Not all 507.")
def gold(count: int | None) -> dict[str, Any]:
    """Run the gold programs locally, on one node and on two, and compare the results."""
    report: dict[str, Any] = {}
    wrong: list[str] = []
    with folder_of(count) as folder:
        expected, report["here"] = run_benchmark(folder, "here", "--jobs", str(CORES))
        report["tasks"] = len(expected)
        report["solved"] = sum(row["correct"] for row in expected)
        for nodes in (1, 2):
            with cluster(nodes) as made:
                name = f"ray, {nodes} nodes"
                rows, report[name] = run_benchmark(
                    folder, f"ray{nodes}", "--workers", f"ray:{made.address}"
                )
                pairs = zip(rows, expected, strict=True)
                wrong += [
                    f"{name}: another row of {row['id']}" for row, other in pairs if row != other
                ]
                with connect_cluster(f"ray:{made.address}"):
                    report[name]["own_ms_an_item"] = round(
                        median(measure_idle_item(500) for _ in range(5)), 2
                    )
    return report | {"passed": not wrong, "wrong": wrong}


def kill(what: str, made: Cluster, driver: subprocess.Popen[str], draw: random.Random) -> None:
    """Kill a part of a cluster: a worker process, the second node, or the command (`driver`).

    `what` names the part. A node is killed with all of its processes.
    """
    if what == "driver":
        driver.kill()
    elif what == "node":
        made.remove_node(next(iter(made.worker_nodes)), allow_graceful=False)
    else:
        titles = {
            path.parent.name: path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline")
        }
        if workers := sorted(
            int(pid) for pid, title in titles.items() if title.startswith(b"ray::_work")
        ):
            os.kill(draw.choice(workers), signal.SIGKILL)


@suite
@click.option("--seed", default=0, show_default=True)
@click.option("--times", default=20, show_default=True)
@click.option("--tasks", "count", default=40, show_default=True)
def kills(seed: int, times: int, count: int) -> dict[str, Any]:
    """Run the gold programs, and kill a worker, the second node or the command during the run."""
    killed = Counter[str]()
    wrong = list[str]()
    with cluster(2) as made:
        for number in range(times):
            draw = random.Random(f"{seed} {number}")
            what = ("worker", "node", "driver")[number % 3]
            after = draw.randrange(1, count - 5)
            with folder_of(count, seed=number) as folder:
                out_ = folder / "rows.jsonl"
                cluster_ = ("--workers", f"ray:{made.address}")
                driver = command(folder, out_, *cluster_)
                seen = 0
                for line in driver.stderr or ():
                    seen += " calls  " in line
                    if seen == after:
                        kill(what, made, driver, draw)
                        seen += count
                killed[what] += seen > count
                if driver.wait() != 0:
                    killed["same command again"] += 1
                    command(folder, out_, *cluster_).communicate()
                rows = [json.loads(line)["row"] for line in out_.read_text().splitlines()[1:]]
                graded = Counter(
                    row["id"] for row in rows if row["status"] not in ("outage", "crash")
                )
                if not len(rows) == len(graded) == graded.total() == count:
                    wrong.append(
                        f"{what} killed after {after} rows: {len(rows)} rows of {len(graded)} tasks"
                    )
            if what == "node":
                made.add_node(num_cpus=CORES // 2)
            click.echo(f"{number + 1}/{times} {what} {wrong[-1:]}", err=True)
    return {"killed": dict(killed), "tasks_each": count, "passed": not wrong, "wrong": wrong}


def perturb_descriptions(count: int, seed: int) -> Iterator[ToolDocument]:
    """Yield tool documents from a real catalogue with perturbed descriptions.

    In each description, two words are replaced with words from other descriptions.
    """
    draw = random.Random(seed)
    base = draw_distractors(CATALOGUE, seed=seed)
    words = sorted({word for protocol in base for word in protocol.description.split()})
    for number, protocol in zip(range(count), cycle(base), strict=False):
        text = protocol.description.split()
        for place in draw.sample(range(len(text)), min(2, len(text))):
            text[place] = draw.choice(words)
        yield ToolDocument(name=f"{protocol.name}_{number}", description=" ".join(text))


@suite
@click.option("--tools", "count", default=200_000, show_default=True)
@click.option("--embedder", type=click.Choice(list(MODELS)), default=DEFAULT, show_default=True)
def index(count: int, embedder: str) -> dict[str, Any]:
    """Build the same search index locally and on two nodes, and compare search results."""
    models = choose_embedder(embedder)
    embed = partial(open_embedder, embedder, None)
    made = list[Any]()
    seconds = []
    queries = [vector_text(document)[:60] for document in perturb_descriptions(200, seed=1)]
    with cluster(2) as nodes, connect_cluster(f"ray:{nodes.address}"):
        pool = RayPool()
        list(pool(embed, [["warm"], ["up"]]))
        models.embed(["warm up"])
        for elsewhere in (None, partial(pool, embed)):
            begun = time.monotonic()
            built = ToolIndex.build(
                perturb_descriptions(count, seed=0), embedder=models, embed_all=elsewhere
            )
            made += [built.dense] if built.dense is not None else []
            seconds.append(round(time.monotonic() - begun, 1))
    here, there = (_best_positions(dense, queries) for dense in made)
    differing = sum(left != right for left, right in zip(here, there, strict=True))
    largest = float(np.abs(made[0].vectors - made[1].vectors).max())
    report = {
        "tools": count,
        "embedder": embedder,
        "seconds_here": seconds[0],
        "seconds_on_two_nodes": seconds[1],
    }
    report |= {"largest_difference": largest, "searches": len(queries), "differing": differing}
    return report | {"passed": not differing}


@suite
@click.option("--rate", default=4, show_default=True)
def probe(rate: int) -> dict[str, Any]:
    """Probe 20 services at once, from 21 tool sources, two of which describe the same service."""
    services = [service(0.5 if number in (1, 2) else 0.0) for number in range(20)]
    services[3][0].stop()
    with tempfile.TemporaryDirectory(prefix="atc-scale-") as name, cluster(2) as nodes:
        for number in range(21):
            users = f"GET {services[number % 20][0].url}/users"
            folder = Path(name) / f"source{number}"
            folder.mkdir()
            (folder / "tools.json").write_text(json.dumps({"all": users, "one": f"{users}/{{id}}"}))
        words = [
            "probe",
            *map(str, Path(name).iterdir()),
            "-o",
            f"{name}/out",
            "--model",
            "none",
            "--json",
        ]
        words += ["--rate", str(rate), "--workers", f"ray:{nodes.address}"]
        begun = time.monotonic()
        ended = subprocess.run(
            [sys.executable, *ATC, *words], capture_output=True, text=True, check=False
        )
        seconds = time.monotonic() - begun
    found = {
        Path(one["source"]).name: one["totals"].get("answered") for one in json.loads(ended.stdout)
    }
    in_a_second: list[int] = []
    for _, times in services:
        in_a_second += (_count_in_second(times, since) for since in times)
    documented = sum(answered == 2 for answered in found.values())
    report = {"seconds": seconds, "documented": documented, "rate": rate, "calls": len(in_a_second)}
    report |= {"most_in_a_second": max(in_a_second)}
    wrong = [
        f"{name} is not documented"
        for name, answered in found.items()
        if answered != 2 and name != "source3"
    ]
    if max(in_a_second) > rate + 1:  # one request more may have been delayed on its way
        wrong.append("a host was called faster than its rate")
    return report | {"passed": not wrong, "wrong": wrong}


main = click.Group(help=__doc__, commands=[gold, kills, index, probe])

if __name__ == "__main__":
    main()
