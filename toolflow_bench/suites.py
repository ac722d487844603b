"""The questions of the suites `toolflow` (all tasks, or a random sample) and `flights`."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from protocols.naming import closest_spellings
from toolflow_bench.services.service import NAMES, find_service
from toolflow_bench.task import GradedQuestion, InvalidTask, Task, load_questions, load_tasks

_T = TypeVar("_T")

QUESTIONS = Path("examples/flights.jsonl")
"""The questions of the suite `flights` in a checkout. The installed package does not have them."""


def draw_stratified(
    things: Sequence[_T],
    count: int,
    *,
    seed: int,
    name: Callable[[_T], str],
    stratum: Callable[[_T], str],
) -> tuple[_T, ...]:
    """Return a stratified sample of `count` items in their original order.

    If there are fewer items, return all of them. The sample depends only on `seed` and on the names
    of the items and strata. Each stratum gets its proportional part of `count`; the strata with the
    largest remainders get one more item.
    """
    count = min(count, len(things))
    strata: dict[str, list[_T]] = {}
    for thing in things:
        strata.setdefault(stratum(thing), []).append(thing)
    exact = {key: count * len(members) / len(things) for key, members in strata.items()}
    shares = {key: int(share) for key, share in exact.items()}
    by_remainder = sorted(strata, key=lambda key: (shares[key] - exact[key], key))
    for key in by_remainder[: count - sum(shares.values())]:
        shares[key] += 1
    drawn = set()
    for key, members in strata.items():
        order = sorted(map(name, members))
        random.Random(f"{seed} {key}").shuffle(order)  # noqa: S311 - a sample, not secrecy
        drawn |= set(order[: shares[key]])
    return tuple(thing for thing in things if name(thing) in drawn)


def choose_tasks(
    split: str = "all",
    services: Sequence[str] = (),
    *,
    sample: int | None = None,
    seed: int = 0,
    folder: Path | None = None,
) -> tuple[Task, ...]:
    """Return the tasks of a split that use only these services, or a sample of these tasks.

    If `services` is empty, tasks with any services are returned.

    Raises:
        InvalidTask: there is no such split, it has no task, or a file cannot be read.
        UnknownService: no service has such a name.
    """
    for name in services:
        find_service(name)
    tasks = load_tasks(folder, split=None if split == "all" else split, services=services)
    if not tasks:
        among = f" with services {', '.join(services)} alone" if services else ""
        raise InvalidTask(
            f"there is no task in the split {split!r}{among}; ask for long, short or all."
        )
    return tasks if sample is None else draw_tasks(tasks, sample, seed=seed)


def draw_tasks(tasks: Sequence[Task], count: int, *, seed: int) -> tuple[Task, ...]:
    """Draw a sample of `count` tasks, stratified by the set of services that a task uses."""
    return draw_stratified(
        tasks,
        count,
        seed=seed,
        name=lambda task: task.id,
        stratum=lambda task: "+".join(sorted(task.services)),
    )


def services_of(tasks: Sequence[Task]) -> tuple[str, ...]:
    """Return the services that have the tasks' candidate tools, in the order of `NAMES`.

    Raises:
        InvalidTask: no service has an operation that a task names.
    """
    owners = {operation.id: name for name in NAMES for operation in find_service(name).operations}
    named = {candidate: task.id for task in tasks for candidate in task.candidates}
    for candidate in sorted(named.keys() - owners.keys()):
        near = closest_spellings(candidate, owners)
        hint = f"did the file mean {near[0]!r}?" if near else "make the files of tasks anew."
        raise InvalidTask(
            f"task {named[candidate]!r} names the tool {candidate!r}, which no service has; {hint}"
        )
    found = {owners[candidate] for candidate in named}
    return tuple(name for name in NAMES if name in found)


def load_flights(path: Path | None = None) -> tuple[GradedQuestion, ...]:
    """Return the questions in the file `path`, by default in `QUESTIONS` below the current folder.

    Raises:
        InvalidTask: there is no such file, or it is not a file of questions.
    """
    if path is None and not QUESTIONS.exists():
        raise InvalidTask(
            f"the suite 'flights' reads its questions from {str(QUESTIONS)!r}, which is not in "
            f"{str(Path.cwd())!r}; "
            "run it in a checkout of the project, or give --data FILE."
        )
    return load_questions(path or QUESTIONS)
