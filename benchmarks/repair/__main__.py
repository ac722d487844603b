"""Compare ways of repair on the same faulty programs.

    python -m benchmarks.repair [--source mutants|scratch] [--sample N] [--seed N] [--model M] [--out DIR] [--json]

The first program of a task is the same in every arm (a gold program with a fault that shows, or the model's own first),
so that arms differ in nothing but what comes after it; `benchmarks.repair.arms` says what they are. One sample a
repair, three repairs at most. A run is continued from the files in --out. Exit status 3 if an outage is left.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import click

from atc import __version__
from atc.cli.settings import load_config
from atc.cli.wiring import choose_model
from atc.config import public
from benchmarks.blame.gold import NoObservation, observe
from benchmarks.blame.mutants import Mutant, mutants, pick
from benchmarks.repair.arms import ARMS, Bench, repeated
from benchmarks.runner import suite
from sandbox.base import Sandbox
from sandbox.choose import open_sandbox
from toolflow_bench.checks.gold import run_program
from toolflow_bench.compare import compare
from toolflow_bench.metrics import Row, summarize
from toolflow_bench.rows import Header, RowFile
from toolflow_bench.runner import Item, ask_item, digest
from toolflow_bench.suites import choose_tasks, services_of
from toolflow_bench.task import Task
from toolflow_bench.world import World

_ARMS = {"mutants": ("traceback", "reflection", "facts"), "scratch": ("none", "traceback", "reflection", "facts")}
_SETTINGS = ("docs", "max_tools", "max_repairs", "max_calls", "prompt_tokens", "sandbox", "decoding")


def faulty_programs(tasks: Sequence[Task], world: World, sandbox: Sandbox, *, seed: int = 0) -> Iterator[Mutant]:
    """A mutant of each task, in an order by seed, that fails when it runs, where one of those that are drawn does.

    A fault shows where the program ends in an exception, or without an answer: one that only makes the answer wrong
    tells no model anything.
    """
    rng = random.Random(f"{seed} repair")
    for task in rng.sample(tasks, len(tasks)):
        world.reset()
        try:
            drawn = list(pick(mutants(observe(task, world.toolbox), seed=seed), seed=seed))
        except NoObservation:
            continue
        for mutant in rng.sample(drawn, len(drawn)):
            world.reset()
            trace = run_program(mutant.program, world.toolbox, sandbox)
            failure = trace.failure
            if failure.kind == "exception" if failure else not trace.stdout.strip() and trace.value is None:
                yield mutant
                break


def run_arms(
    items: Sequence[Item],
    bench: Bench,
    files: Mapping[str, Path],
    header: Header,
    *,
    timeout_seconds: float | None = None,
) -> dict[str, Any]:
    """Ask every item in every arm, item by item. What the files hold already is not asked again.

    Each item begins with another arm: the first one waits until a local model has read the prompt that all share.
    """
    names = list(files)
    with ExitStack() as stack, click.progressbar(length=len(items) * len(names), file=sys.stderr) as bar:
        own = {name: replace(header, settings={**header.settings, "arm": name}) for name in names}
        opened = {name: stack.enter_context(RowFile(files[name], own[name])) for name in names}
        for number, item in enumerate(items):
            first = number % len(names)
            for name in [*names[first:], *names[:first]]:
                known = opened[name].rows.get((item.question.id, 0))
                if known is None or not known.graded:
                    work = partial(bench.answer, ARMS[name])
                    row = ask_item(item, work, seed=header.seed, repeat=0, timeout_seconds=timeout_seconds)
                    opened[name].append(row)
                bar.update(1)
        found = {name: [opened[name].rows[item.question.id, 0] for item in items] for name in names}
    return {
        "arms": {name: figures(rows) for name, rows in found.items()},
        "differences": {
            f"{b} - {a}": asdict(compare(found[a], found[b], seed=header.seed))["differences"]
            for a, b in combinations(names, 2)
        },
        "left": sum(not row.graded for rows in found.values() for row in rows),
    }


def figures(rows: Sequence[Row]) -> dict[str, Any]:
    """What an arm came to; `repeated` are calls that were sent again."""
    graded = [row for row in rows if row.graded]
    every = summarize(rows).as_json()
    shown = ("solved", "graded", "interval", "path", "repairs", "model_calls", "input_tokens", "output_tokens")
    counts = {"sent": sum(row.calls for row in graded), "repeated": sum(repeated(row.made) for row in graded)}
    return {**{name: every[name] for name in shown}, **counts}


@suite
@click.option("--source", type=click.Choice([*_ARMS]), default="mutants", show_default=True)
@click.option("--sample", "count", type=click.IntRange(1), default=15, show_default=True, help="Drawn by --seed.")
@click.option("--seed", default=0, show_default=True, help="What is drawn by.")
@click.option("--model", help="As 'atc run' takes it.")
@click.option("--timeout", type=click.FloatRange(1), default=600.0, show_default=True, help="Seconds a task and arm.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder of rows, a file an arm.")
def main(source: str, count: int, seed: int, model: str | None, timeout: float, out: Path | None) -> dict[str, Any]:
    split = "all" if source == "mutants" else "short"
    tasks = choose_tasks(split, sample=count if source == "scratch" else None, seed=seed)
    config = load_config({"model": model})[0]
    folder = out or config.state_dir / "bench" / f"repair-{source}-{seed}"
    with ExitStack() as stack:
        world = stack.enter_context(World(services_of(tasks), folder=config.cache_dir))
        sandbox = stack.enter_context(closing(open_sandbox(config.sandbox, policy=config.policy)))
        ask = choose_model(config)
        drawn = faulty_programs(tasks, world, sandbox, seed=seed) if source == "mutants" else iter(())
        faulty = [mutant for mutant, _ in zip(drawn, range(count), strict=False)]
        items = [replace(Item.of(one.task), question=replace(one.task, id=one.id)) for one in faulty]
        items = items or [Item.of(task) for task in tasks]
        programs = {mutant.id: mutant.program for mutant in faulty}
        bench = Bench(world, ask=ask, sandbox=sandbox, config=config, programs=programs)
        every = public(bench.config)
        settings = {"timeout": timeout, "split": split, "sample": count} | {key: every[key] for key in _SETTINGS}
        data = digest([item.question for item in items])
        about = {"suite": f"repair-{source}", "model": ask.name, "seed": seed}
        header = Header(**about, data=data, version=__version__, settings=settings)
        files = {name: folder / f"{name}.jsonl" for name in _ARMS[source]}
        found = run_arms(items, bench, files, header, timeout_seconds=timeout)
    return about | {"tasks": len(items), "rows": str(folder)} | found


if __name__ == "__main__":
    main()
