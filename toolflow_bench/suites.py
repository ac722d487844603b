"""What the suites ask: ToolFlow's tasks, a sample drawn before any result is seen, and the flights questions."""

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
"""Where the questions of the suite `flights` stand in a checkout; they are not part of the installed package."""


def draw_stratified(
    things: Sequence[_T],
    count: int,
    *,
    seed: int,
    name: Callable[[_T], str],
    stratum: Callable[[_T], str],
) -> tuple[_T, ...]:
    """`count` of `things` (all where there are no more), in their order, drawn by seed and `name` alone.

    Stratified: each `stratum` gets its share of `count`, rounded so that the largest remainders get one more.
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
    """The tasks of a split and of these services (none: all), or a `sample` of so many of them.

    Raises:
        InvalidTask: no such split, no task in it, or a file that cannot be read.
        UnknownService: no service of a name.
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
    """`count` of the tasks; each service, and each set of services that tasks span, gets its share."""
    return draw_stratified(
        tasks,
        count,
        seed=seed,
        name=lambda task: task.id,
        stratum=lambda task: "+".join(sorted(task.services)),
    )


def services_of(tasks: Sequence[Task]) -> tuple[str, ...]:
    """The services whose operations the tasks' candidates are, in the usual order.

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
    """The questions of `path`, else of `QUESTIONS` in the current folder.

    Raises:
        InvalidTask: there is no such file, or it is not one of questions.
    """
    if path is None and not QUESTIONS.exists():
        raise InvalidTask(
            f"the suite 'flights' reads its questions from {str(QUESTIONS)!r}, which is not in {str(Path.cwd())!r}; "
            "run it in a checkout of the project, or give --data FILE."
        )
    return load_questions(path or QUESTIONS)
