"""The suite `toolflow`: the tasks to ask, and a sample of them that is drawn before any result is seen."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from toolflow_bench import drawing
from toolflow_bench.services.service import NAMES, find_service
from toolflow_bench.task import InvalidTask, Split, Task, load_tasks

SPLITS = ("long", "short", "all")


def choose_tasks(
    split: str = "all",
    services: Sequence[str] = (),
    *,
    sample: int | None = None,
    seed: int = 0,
    folder: Path | None = None,
) -> tuple[Task, ...]:
    """The tasks of a split and of these services (none: all), or a `sample` of so many of them.

    Raises:
        InvalidTask: no such split, no task in it, or a file that cannot be read.
        UnknownService: no service of a name.
    """
    if split not in SPLITS:
        near = get_close_matches(split, SPLITS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there is {', '.join(SPLITS)}."
        raise InvalidTask(f"no split named {split!r}; {hint}")
    for name in services:
        find_service(name)
    wanted: Split | None = "long" if split == "long" else "short" if split == "short" else None
    tasks = load_tasks(folder, split=wanted, services=services)
    if not tasks:
        among = f" with services {', '.join(services)} alone" if services else ""
        raise InvalidTask(f"there is no task in the split {split!r}{among}; ask for others, or for all.")
    return tasks if sample is None else draw(tasks, sample, seed=seed)


def draw(tasks: Sequence[Task], count: int, *, seed: int) -> tuple[Task, ...]:
    """`count` of the tasks; each service, and each set of services that tasks span, gets its share."""
    return drawing.draw(
        tasks, count, seed=seed, name=lambda task: task.id, stratum=lambda task: "+".join(sorted(task.services))
    )


def services_of(tasks: Sequence[Task]) -> tuple[str, ...]:
    """The services whose operations the tasks' candidates are, in the usual order; no other is looked at.

    Raises:
        InvalidTask: no service has an operation that a task names.
    """
    unknown = {candidate: task.id for task in tasks for candidate in task.candidates}
    named = {name for task in tasks for name in task.services}
    found, known = set(), set()
    for name in sorted(NAMES, key=lambda name: (name not in named, NAMES.index(name))):
        offered = {operation.id for operation in find_service(name).operations} if unknown else set()
        if unknown.keys() & offered:
            found.add(name)
        known |= offered
        unknown = {candidate: task for candidate, task in unknown.items() if candidate not in offered}
    for candidate, task in unknown.items():
        near = get_close_matches(candidate, known, n=1)
        hint = f"did the file mean {near[0]!r}?" if near else "make the files of tasks anew."
        raise InvalidTask(f"task {task!r} names the tool {candidate!r}, which no service has; {hint}")
    return tuple(name for name in NAMES if name in found)
