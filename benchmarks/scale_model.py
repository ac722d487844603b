"""A model of many workers: analysis and simulation of a closed queueing network.

`workers` × `jobs` tasks run at the same time. Each task passes through the driver, the shards of
the index (a search asks all shards and takes as long as the slowest), a pool of model slots, the
workers' cores, the tools, and the store of runs. The analysis is mean value analysis (Schweitzer's
approximation, with Seidmann's method for stations of several servers). The simulation draws times
from a log-normal distribution and the number of model calls from a geometric one.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import Any, NamedTuple

import click
import simpy

from benchmarks.runner import suite

SPREAD = 0.5  # standard deviation of a drawn time, as a share of its mean


@dataclass(frozen=True, kw_only=True)
class Scene:
    """The parameters of the model: numbers of machines, and what a task needs.

    Times are in seconds.
    """

    workers: int = 100
    jobs: int = 4
    cores: int = 4
    slots: int = 256  # requests that the model's servers work on at once, at `tokens_a_second` each
    shards: int = 10
    replicas: int = 2  # copies of each shard, of which one answers a search
    search_seconds: float = 0.024
    searches: int = 3
    model_calls: float = 1.3
    new_tokens: int = 1500  # tokens of a prompt that are in no cache
    prefill_a_second: float = 5000
    output_tokens: int = 350
    tokens_a_second: float = 40
    work_seconds: float = 0.1
    tool_calls: int = 12
    tool_seconds: float = 0.02
    writes: int = 34
    write_seconds: float = 0.0016
    driver_seconds: float = 0.003

    @property
    def request_seconds(self) -> float:
        return self.new_tokens / self.prefill_a_second + self.output_tokens / self.tokens_a_second

    @property
    def stations(self) -> dict[str, tuple[int, float]]:
        """The stations, that is, the places where tasks queue, keyed by name.

        Each has its number of servers and the total seconds that a task needs there. Tools are not
        included, since they have no queue.
        """
        return {
            "driver": (1, self.driver_seconds),
            "index": (self.replicas, self.searches * self.search_seconds),
            "model": (self.slots, self.model_calls * self.request_seconds),
            "cores": (self.workers * self.cores, self.work_seconds),
            "store": (1, self.writes * self.write_seconds),
        }


class Figures(NamedTuple):
    """The throughput in tasks per second, the mean seconds of a task, and how busy each station is.

    `busy` has the utilization of each station, from 0 to 1.
    """

    rate: float
    seconds: float
    busy: dict[str, float]


def calculate_figures(scene: Scene) -> Figures:
    """Compute the throughput and the delays with Schweitzer's mean value analysis.

    A station of c servers is treated as a fixed delay followed by one server that is c times as
    fast.
    """
    tasks = scene.workers * scene.jobs
    stations = scene.stations
    fast = {name: demand / servers for name, (servers, demand) in stations.items()}
    delay = scene.tool_calls * scene.tool_seconds
    delay += sum(demand * (servers - 1) / servers for servers, demand in stations.values())
    waiting = dict.fromkeys(fast, tasks / len(fast))
    for _ in range(10_000):
        stay = {
            name: seconds * (1 + waiting[name] * (tasks - 1) / tasks)
            for name, seconds in fast.items()
        }
        rate = tasks / (delay + sum(stay.values()))
        before = waiting
        waiting = {name: rate * stay[name] for name in fast}
        if max(abs(waiting[name] - before[name]) for name in fast) < 1e-9:
            break
    return Figures(rate, tasks / rate, {name: rate * fast[name] for name in fast})


def simulate_tasks(scene: Scene, *, tasks: int, seed: int) -> Figures:
    """Simulate `tasks` tasks. The first tenth is a warm-up and is not measured."""
    world = simpy.Environment()
    draw = random.Random(seed)
    pools = {
        name: simpy.Resource(world, servers)
        for name, (servers, _) in scene.stations.items()
        if name != "index"
    }
    shards = [simpy.Resource(world, scene.replicas) for _ in range(scene.shards)]
    used = dict.fromkeys(scene.stations, 0.0)
    took = list[float]()
    ends = list[float]()

    def use(
        pool: simpy.Resource, name: str, mean: float, share: float = 1
    ) -> Generator[Any, Any, None]:
        with pool.request() as turn:
            yield turn
            seconds = draw_lognormal(draw, mean)
            used[name] += seconds * share
            yield world.timeout(seconds)

    def task() -> Generator[Any, Any, None]:
        while len(ends) < tasks:
            begun = world.now
            yield from use(pools["driver"], "driver", scene.driver_seconds)
            for _ in range(scene.searches):
                asked = [
                    world.process(use(shard, "index", scene.search_seconds, 1 / len(shards)))
                    for shard in shards
                ]
                yield world.all_of(asked)
            calls = 1
            while draw.random() < 1 - 1 / scene.model_calls:
                calls += 1
            for _ in range(calls):
                yield from use(pools["model"], "model", scene.request_seconds)
                yield from use(pools["cores"], "cores", scene.work_seconds / scene.model_calls)
            for _ in range(scene.tool_calls):
                yield world.timeout(draw_lognormal(draw, scene.tool_seconds))
                yield from use(
                    pools["store"], "store", scene.write_seconds * scene.writes / scene.tool_calls
                )
            took.append(world.now - begun)
            ends.append(world.now)

    for _ in range(scene.workers * scene.jobs):
        world.process(task())
    world.run()
    warm = tasks // 10
    rate = (tasks - warm) / (ends[tasks - 1] - ends[warm - 1])
    busy = {name: used[name] / servers / world.now for name, (servers, _) in scene.stations.items()}
    return Figures(rate, sum(took[warm:tasks]) / (tasks - warm), busy)


def draw_lognormal(draw: random.Random, mean: float) -> float:
    variance = log(1 + SPREAD**2)
    return draw.lognormvariate(log(mean) - variance / 2, sqrt(variance))


@suite
@click.option(
    "--workers",
    multiple=True,
    type=click.IntRange(1),
    default=(10, 30, 100, 300),
    show_default=True,
)
@click.option(
    "--set", "changes", multiple=True, metavar="NAME=NUMBER", help="Any other number of the scene."
)
@click.option(
    "--tasks", type=click.IntRange(100), default=20_000, show_default=True, help="To simulate."
)
@click.option("--seed", type=int, default=0, show_default=True)
def main(workers: Sequence[int], changes: Sequence[str], tasks: int, seed: int) -> dict[str, Any]:
    rows = {}
    given = [change.partition("=") for change in changes]
    for number in workers:
        changed = {name: type(getattr(Scene, name))(float(value)) for name, _, value in given}
        scene = Scene(**{"workers": number, **changed})
        told = calculate_figures(scene)
        seen = simulate_tasks(scene, tasks=tasks, seed=seed)
        worst = max(seen.busy, key=lambda name: seen.busy[name])
        row: dict[str, Any] = {"tasks a second, calculated": told.rate, "simulated": seen.rate}
        row |= {"seconds of a task, calculated": told.seconds, "simulated ": seen.seconds}
        rows[f"{scene.workers} workers"] = row | {"busiest": f"{worst} {seen.busy[worst]:.0%}"}
    return {"scenes": rows}


if __name__ == "__main__":
    main()
