"""The command `atc bench check`: derives each task of a folder again and compares the results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from atc.core.parallel import Threads
from protocols.errors import AtcError
from sandbox.base import Sandbox
from sandbox.choose import open_sandbox
from toolflow_bench.checks.flow import Flow, flow_of
from toolflow_bench.checks.gold import GoldRun, run_gold
from toolflow_bench.checks.needed import find_unneeded_calls
from toolflow_bench.checks.wording import near_duplicates
from toolflow_bench.derive import ServiceDatabases
from toolflow_bench.grade import Verdict, grade
from toolflow_bench.paths import Call, correct_path, path_rate, precision
from toolflow_bench.task import Task
from toolflow_bench.world import World

OnTask = Callable[[int], None]
"""A function that is called after each task with the number of tasks checked so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """The result of checking tasks. The check has passed if there are no problems."""

    tasks: int
    problems: tuple[str, ...] = ()
    success: float = 0.0
    """Share of the tasks that their gold programs solve, from 0 to 1.

    `path` and `precision` are the means of these metrics, also from 0 to 1.
    """
    path: float = 0.0
    precision: float = 0.0
    calls: int = 0
    patterns: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the report on the checked tasks as a JSON object."""
        return {"passed": not self.problems, **asdict(self)}


def check_tasks(
    tasks: Sequence[Task],
    *,
    folder: Path | None = None,
    jobs: int = 2,
    on_task: OnTask = lambda _: None,
) -> CheckReport:
    """Check `tasks`, `jobs` of them at a time. Each worker has its own services, data and sandbox.

    `folder` is the cache folder for the services' data.

    Raises:
        SourceUnavailable, SandboxUnavailable: the services or the sandbox are not available here.
    """
    problems = [
        f"{one.id} and {other.id} ask in nearly the same words ({share:.0%} of their runs of "
        "three words)"
        for one, other, share in near_duplicates(tasks)
    ]

    @contextmanager
    def open_checker() -> Iterator[Callable[[Task], _TaskFindings]]:
        with (
            World(folder=folder) as world,
            closing(ServiceDatabases(folder=folder)) as data,
            closing(open_sandbox()) as sandbox,
        ):
            yield lambda task: _check(task, world, data, sandbox)

    found = []
    with closing(Threads(jobs)(open_checker, tasks)) as checked:
        for one in checked:
            found.append(one)
            on_task(len(found))
    count = max(1, len(tasks))
    return CheckReport(
        tasks=len(tasks),
        problems=(*problems, *(problem for one in found for problem in one.problems)),
        success=sum(one.success for one in found) / count,
        path=sum(one.path for one in found) / count,
        precision=sum(one.precision for one in found) / count,
        calls=sum(one.calls for one in found),
        patterns=len({task.pattern for task in tasks}),
    )


class _TaskFindings(NamedTuple):
    """The problems of one task, and the metrics of a run of its gold program."""

    problems: Sequence[str]
    success: bool = False
    path: float = 0.0
    precision: float = 0.0
    calls: int = 0


def _check(task: Task, world: World, data: ServiceDatabases, sandbox: Sandbox) -> _TaskFindings:
    if unknown := sorted(set(task.candidates) - set(world.toolbox)):
        return _TaskFindings(
            [f"{task.id}: there is no tool {unknown[0]!r}; 'atc bench serve' lists those there are"]
        )
    run = run_gold(task.program, world, sandbox)
    made = _calls(run)
    verdict = grade(run.answer, task, state=run.state)
    success = verdict.correct and run.problem is None
    problems = [*_problems(task, run, world, data, verdict)]
    if success:
        nothing = task.type == "none"
        problems += find_unneeded_calls(
            task.program, task.question, run, world.toolbox, sandbox, nothing_found=nothing
        )
    return _TaskFindings(
        [f"{task.id}: {problem}" for problem in problems],
        success=success,
        path=path_rate(task.operations, made) or 0.0,
        precision=precision(task.operations, made) or 0.0,
        calls=len(made),
    )


def _calls(run: GoldRun) -> list[Call]:
    """Return the calls of a run in the format that `toolflow_bench.metrics` uses."""
    return [
        {
            "tool": call.tool,
            "arguments": call.arguments,
            "outcome": call.outcome,
            "attempt": 0,
            "reused": call.reused,
        }
        for call in run.accepted_calls
    ]


def _problems(
    task: Task, run: GoldRun, world: World, data: ServiceDatabases, verdict: Verdict
) -> Iterator[str]:
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
    flow = flow_of(task.program, run.accepted_calls)
    yield from _differences(task, run, flow, world)
    if task.split == "long" and all(text in task.question for text in flow.carried):
        yield "no argument is a text that only an earlier response holds"


def _differences(task: Task, run: GoldRun, flow: Flow, world: World) -> Iterator[str]:
    """Yield a sentence for each field of a task that differs from what its gold program did."""
    operations = tuple(call.tool for call in run.accepted_calls)
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
