"""`atc bench check`: every task of a folder is derived anew, twice, and held against what stands in its file."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from protocols.errors import AtcError
from sandbox.base import Sandbox
from sandbox.choose import open_sandbox
from toolflow_bench.checks.flow import Flow, flow_of
from toolflow_bench.checks.gold import GoldRun, run_gold
from toolflow_bench.checks.needed import idle_calls, unneeded
from toolflow_bench.checks.wording import near_duplicates
from toolflow_bench.derive import Data
from toolflow_bench.grade import Verdict, grade
from toolflow_bench.paths import Call, correct_path, path_rate, precision
from toolflow_bench.task import Task
from toolflow_bench.world import World

OnTask = Callable[[Task, int, int], None]
"""Told of each task that was checked, with how many of how many are done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What a check found. It passed where there is no problem."""

    tasks: int
    operations: int
    problems: tuple[str, ...] = ()
    success: float = 0.0
    """Shares that the gold programs get, from 0 to 1, by the metrics that models are measured with."""
    path: float = 0.0
    precision: float = 0.0
    calls: int = 0
    patterns: int = 0
    seconds: float = 0.0
    """Of running the gold programs over HTTP, all of them, summed over workers."""

    def as_json(self) -> dict[str, Any]:
        """As plain JSON."""
        document = asdict(self)
        return {"passed": not self.problems, "gold_seconds": round(document.pop("seconds"), 3), **document}


def check_tasks(
    tasks: Sequence[Task],
    *,
    thorough: bool = True,
    folder: Path | None = None,
    jobs: int = 2,
    on_task: OnTask | None = None,
) -> Checked:
    """Check `tasks`, `jobs` at a time, each thread with services, data and a sandbox of its own.

    `thorough` replaces single calls too where a line makes several, which takes longer. `folder` is the cache folder.

    Raises:
        SourceUnavailable, SandboxUnavailable: services or sandbox cannot be had here; nothing was learned.
    """
    problems = [
        f"{one.id} and {other.id} ask in nearly the same words ({share:.0%} of their runs of three words)"
        for one, other, share in near_duplicates(tasks)
    ]
    own, lock, worlds = threading.local(), threading.Lock(), list[World]()
    with ExitStack() as stack:

        def check(task: Task) -> _Found:
            if not hasattr(own, "tools"):
                with lock:
                    worlds.append(stack.enter_context(World(folder=folder)))
                    data = stack.enter_context(closing(Data(folder=folder)))
                    own.tools = worlds[-1], data, stack.enter_context(closing(open_sandbox()))
            return _check(task, *own.tools, thorough=thorough)

        pool = stack.enter_context(ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="check"))
        found = []
        for task, one in zip(tasks, pool.map(check, tasks), strict=True):
            found.append(one)
            if on_task is not None:
                on_task(task, len(found), len(tasks))
    count = max(1, len(tasks))
    return Checked(
        tasks=len(tasks),
        operations=len(worlds[0].toolbox) if worlds else 0,
        problems=(*problems, *(problem for one in found for problem in one.problems)),
        success=sum(one.success for one in found) / count,
        path=sum(one.path for one in found) / count,
        precision=sum(one.precision for one in found) / count,
        calls=sum(one.calls for one in found),
        patterns=len({task.pattern for task in tasks}),
        seconds=sum(one.seconds for one in found),
    )


class _Found(NamedTuple):
    """One task's findings."""

    problems: Sequence[str]
    success: bool = False
    path: float = 0.0
    precision: float = 0.0
    calls: int = 0
    seconds: float = 0.0


def _check(task: Task, world: World, data: Data, sandbox: Sandbox, *, thorough: bool) -> _Found:
    if unknown := sorted(set(task.candidates) - set(world.toolbox)):
        return _Found([f"{task.id}: there is no tool {unknown[0]!r}; 'atc bench serve' lists those there are"])
    run = run_gold(task.program, world, sandbox)
    made = _calls(run)
    verdict = grade(run.answer, task, state=run.state)
    success = verdict.correct and run.problem is None
    problems = [*_problems(task, run, world, data, verdict)]
    if success:
        given = task.program, task.question, run, world.toolbox, sandbox
        problems += unneeded(*given, nothing_found=task.type == "none")
        for number in idle_calls(*given) if thorough else ():
            call = run.made[number]
            show = "is for show: nothing it could give changes the answer"
            problems.append(f"line {call.line}: call {number}, {call.tool}, {show}")
    return _Found(
        [f"{task.id}: {problem}" for problem in problems],
        success=success,
        path=path_rate(task.operations, made) or 0.0,
        precision=precision(task.operations, made) or 0.0,
        calls=len(made),
        seconds=run.trace.seconds,
    )


def _calls(run: GoldRun) -> list[Call]:
    """The run's calls as metrics read them."""
    return [
        {"tool": call.tool, "arguments": call.arguments, "outcome": call.outcome, "attempt": 0, "reused": call.reused}
        for call in run.made
    ]


def _problems(task: Task, run: GoldRun, world: World, data: Data, verdict: Verdict) -> Iterator[str]:
    if run.problem is not None:
        yield run.problem
        return
    if not verdict.correct:
        yield f"the gold program does not give the gold answer: {verdict.reason}"
    try:
        derived = data.derive(task.query, task.type)
    except AtcError as error:
        yield str(error)
    else:
        if derived != (sorted(task.answer, key=str) if task.type == "set" else task.answer):
            yield f"the query gives {derived!r}, the gold answer is {task.answer!r}"
    flow = flow_of(task.program, run.made)
    yield from _differences(task, run, flow, world)
    if task.split == "long" and all(text in task.question for text in flow.carried):
        yield "no argument is a text that only an earlier response holds"


def _differences(task: Task, run: GoldRun, flow: Flow, world: World) -> Iterator[str]:
    """What the run is, against what the file says of it."""
    operations = tuple(call.tool for call in run.made)
    services = tuple(dict.fromkeys(world.owners[operation] for operation in operations))
    writes = any(world.toolbox[operation].protocol.writes for operation in operations)
    for name, said, is_ in (
        ("operations", task.operations, operations),
        ("pattern", task.pattern, flow.pattern),
        ("depth", task.depth, flow.depth),
        ("services", task.services, services),
        ("writes", task.writes, writes),
    ):
        if said != is_:
            yield f"{name!r} is {said!r} in the file, the gold program's is {is_!r}"
    if not correct_path(task.operations, _calls(run)):
        yield "the gold program does not take the gold path"
