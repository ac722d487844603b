"""Compare ways of repair on the same faulty programs.

    python -m benchmarks.repair [--arms NAMES] [--source mutants|scratch] [--sample N] [--model M] [--out DIR] [--json]

The first program of a task is the same in every arm (a gold program with a fault that shows, or the model's own first),
so that arms differ in nothing but what comes after it; `benchmarks.repair.arms` says what they are. One sample a
repair, three repairs at most. A run is continued from the files in --out. Exit status 3 if an outage is left.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
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
from benchmarks.runner import show, start
from sandbox.base import Sandbox
from sandbox.choose import open_sandbox
from toolflow_bench.checks.gold import run_program
from toolflow_bench.columns import columns
from toolflow_bench.compare import compare
from toolflow_bench.metrics import Row, summarize
from toolflow_bench.rows import Header, RowFile
from toolflow_bench.runner import Item, ask_item, digest
from toolflow_bench.suites import SPLITS, choose_tasks, services_of
from toolflow_bench.task import Task
from toolflow_bench.world import World

_DEFAULT_ARMS = {"mutants": "traceback,reflection,facts", "scratch": "none,traceback,reflection,facts"}
_DEFAULT_SAMPLE = {"mutants": 60, "scratch": 15}
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
    kinds: Mapping[str, str],
    writing: frozenset[str] = frozenset(),
    restart: bool = False,
    timeout_seconds: float | None = None,
) -> dict[str, dict[str, Any]]:
    """Ask every item in every arm, item by item. What the files hold already is not asked again.

    Each item begins with another arm: the first one waits until a local model has read the prompt that all share.
    """
    names = list(files)
    with ExitStack() as stack, click.progressbar(length=len(items) * len(names), file=sys.stderr) as bar:
        own = {name: replace(header, settings={**header.settings, "arm": name}) for name in names}
        opened = {name: stack.enter_context(RowFile(files[name], own[name], restart=restart)) for name in names}
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
    differences = {f"{b} - {a}": compare(found[a], found[b], seed=header.seed) for a, b in combinations(names, 2)}
    return {
        "arms": {name: {"rows": str(files[name]), **figures(rows, kinds, writing)} for name, rows in found.items()},
        "differences": {name: one.as_json() for name, one in differences.items()},
        "left": sum(not row.graded for rows in found.values() for row in rows),
    }


def figures(rows: Sequence[Row], kinds: Mapping[str, str], writing: frozenset[str]) -> dict[str, Any]:
    """What an arm came to; `by_kind` has solved and graded by the kind of the first program's fault."""
    graded = [row for row in rows if row.graded]
    again = [repeated(row.made, writing) for row in graded]
    by_kind: dict[str, dict[str, int]] = {}
    for row in graded:
        one = by_kind.setdefault(kinds.get(row.id, "its own"), {"solved": 0, "graded": 0})
        one["solved"], one["graded"] = one["solved"] + row.correct, one["graded"] + 1
    return {
        **summarize(rows).as_json(),
        "by_kind": by_kind,
        "sent": sum(row.calls for row in graded),
        "repeated_calls": sum(calls for calls, _ in again),
        "repeated_writes": sum(writes for _, writes in again),
    }


def lines(found: Mapping[str, Any]) -> Iterator[str]:
    """A table of the arms, successes by kind of fault, and each pair's difference."""
    heads = ("repairs", "model_calls", "sent", "repeated_calls", "repeated_writes", "input_tokens", "output_tokens")
    table = [("arm", "solved", *heads)]
    for name, arm in found["arms"].items():
        table.append((name, f"{arm['solved']} of {arm['graded']}", *(f"{arm[head]:,}" for head in heads)))
    yield from columns(table)
    for name, one in found["differences"].items():
        success = one["differences"].get("success")
        told = f"{success['mean']:+.0%} ({success['low']:+.0%} to {success['high']:+.0%})" if success else "-"
        yield f"{name}: success {told} on {one['shared']} tasks"


@click.command(help=__doc__.partition("\n")[0])
@click.option("--arms", help=f"{', '.join(ARMS)}; with commas between them.")
@click.option("--source", type=click.Choice([*_DEFAULT_ARMS]), default="mutants", show_default=True)
@click.option("--split", type=click.Choice(SPLITS), help="By default all for mutants, short from scratch.")
@click.option("--sample", type=click.IntRange(1), help="Tasks, drawn by --seed; 60 mutants or 15 from scratch.")
@click.option("--seed", default=0, show_default=True, help="What is drawn by.")
@click.option("--model", help="As 'atc run' takes it.")
@click.option("--timeout", type=click.FloatRange(1), default=600.0, show_default=True, help="Seconds a task and arm.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder of rows, a file an arm.")
@click.option("--restart", is_flag=True, help="Empty the files in --out first.")
@click.option("--data", type=click.Path(path_type=Path), help="Folder of tasks instead of ToolFlow's.")
@click.option("--json", "as_json", is_flag=True)
def main(
    *,
    arms: str | None,
    source: str,
    split: str | None,
    sample: int | None,
    seed: int,
    model: str | None,
    timeout: float,
    out: Path,
    restart: bool,
    data: Path | None,
    as_json: bool,
) -> None:
    """See the module's docstring."""
    names = [name.strip() for name in (arms or _DEFAULT_ARMS[source]).split(",") if name.strip()]
    if unknown := [name for name in names if name not in ARMS] or ([] if names else [""]):
        raise click.BadParameter(f"no arm named {unknown[0]!r}; there is {', '.join(ARMS)}.", param_hint="--arms")
    count, split = sample or _DEFAULT_SAMPLE[source], split or ("all" if source == "mutants" else "short")
    tasks = choose_tasks(split, sample=count if source == "scratch" else None, seed=seed, folder=data)
    config = load_config({"model": model})[0]
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
        header = Header(
            suite=f"repair-{source}",
            model=ask.name,
            seed=seed,
            data=digest([item.question for item in items]),
            version=__version__,
            settings={"timeout": timeout, "split": split, "sample": count} | {key: every[key] for key in _SETTINGS},
        )
        kinds = {mutant.id: mutant.kind for mutant in faulty}
        files = {name: out / f"{name}.jsonl" for name in names}
        writing = frozenset(alias for alias, tool in world.toolbox.items() if tool.protocol.writes)
        options = {"kinds": kinds, "writing": writing, "restart": restart, "timeout_seconds": timeout}
        found = run_arms(items, bench, files, header, **options)
    about = {"suite": "repair", "source": source, "model": ask.name, "tasks": len(items)}
    show(about | found, lines(found), as_json=as_json)
    sys.exit(3 if found["left"] else 0)


if __name__ == "__main__":
    start(main)
