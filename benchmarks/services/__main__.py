"""Answer questions about seven real services by prepared programs, and grade the answers.

Each service is installed into a folder, started on a loopback port, and filled with data of which
the truth is known. The programs were written before anything was run, from what the prompt shows.
Each is given to `atc run` by a model on loopback that knows only this program, so that it is
checked, corrected, run and doubted as any other. A model that is asked again repeats its program.

A wrong answer is `marked` if `atc` doubts it, and `silent` if not. A program that calls a function
which the prompt does not offer counts only if its task has no other program. A task has the worst
grade of its programs. `--atc` measures the `atc` of another checkout. The exit status is 1 if an
answer is silently wrong, or if fewer than 95 in 100 tasks are right.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from hashlib import sha256
from pathlib import Path
from typing import Any

import click
from platformdirs import user_cache_path

from benchmarks.runner import suite, track_progress
from benchmarks.services import (
    docker_registry,
    json_server,
    jupyter_server,
    kinto,
    maildev,
    moto,
    shop,
)
from benchmarks.services.grading import GRADES, Grade
from benchmarks.services.play import PlayedProgram, play_program
from benchmarks.services.service import RunningService
from benchmarks.services.service_tasks import load_service_tasks

SERVICES: Mapping[str, Callable[[Path], AbstractContextManager[RunningService]]] = {
    "docker-registry": docker_registry.run,
    "kinto": kinto.run,
    "json-server": json_server.run,
    "shop": shop.run,
    "jupyter-server": jupyter_server.run,
    "moto": moto.run,
    "maildev": maildev.run,
}
_LEAST_RIGHT = 0.95


@suite
@click.option(
    "--service",
    "names",
    multiple=True,
    type=click.Choice(list(SERVICES)),
    help="Repeatable. Default: all.",
)
@click.option("--task", "tasks", multiple=True, metavar="ID", help="These tasks alone; repeatable.")
@click.option(
    "--atc",
    "python",
    default=sys.executable,
    metavar="PYTHON",
    help="The Python of another checkout whose atc is measured.",
)
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Where the services are installed. Default: in the user's cache.",
)
def main(
    names: tuple[str, ...], tasks: tuple[str, ...], python: str, folder: Path | None
) -> dict[str, Any]:
    root = (folder or user_cache_path("atc") / "services").absolute()
    played: list[PlayedProgram] = []
    for name in names or SERVICES:
        played += play_service(name, root, tasks, str(Path(python).absolute()))
    return summarize(played)


def play_service(
    name: str, root: Path, tasks: Sequence[str], python: str
) -> Iterator[PlayedProgram]:
    """Start a service, and yield what came of each of its programs, in the order of the file."""
    chosen = [
        (task, style)
        for task in load_service_tasks(name)
        if not tasks or task.id in tasks
        for style in task.programs
    ]
    cache = root / "cache" / sha256(python.encode()).hexdigest()[:8]
    cache.mkdir(parents=True, exist_ok=True)
    with SERVICES[name](root / name) as service:
        for task, style in track_progress(name, chosen, total=len(chosen)):
            yield play_program(name, service, task, style, python=python, cache=cache)


def summarize(played: Sequence[PlayedProgram]) -> dict[str, Any]:
    """Return the report: the grades of each service, and all that was not right."""
    counted = list(_counted(played))
    names = dict.fromkeys(one.service for one in played)
    total = _count(counted)
    tasks = total["tasks"]
    right = tasks.get("right", 0) / max(1, sum(tasks.values()))
    return {
        "suite": "services",
        "passed": right >= _LEAST_RIGHT and "silent" not in tasks,
        "share_of_tasks_right": right,
        "services": {name: _count(one for one in counted if one.service == name) for name in names},
        "total": total,
        "not_right": [_describe(one) for one in counted if one.grade != "right"],
        "asked_again_but_right": [
            _describe(one) for one in counted if one.grade == "right" and one.requests > 1
        ],
    }


def _counted(played: Sequence[PlayedProgram]) -> Iterator[PlayedProgram]:
    """Yield the programs that count: if a task had an offered one, only its offered ones."""
    offered = {(one.service, one.task) for one in played if one.grade != "not offered"}
    for one in played:
        if one.grade != "not offered" or (one.service, one.task) not in offered:
            yield one


def _count(played: Iterable[PlayedProgram]) -> dict[str, Any]:
    """Return how many tasks and programs have each grade, and how often a model was asked again."""
    programs = list(played)
    worst: dict[tuple[str, str], Grade] = {}
    for one in programs:
        task = (one.service, one.task)
        worst[task] = max(worst.get(task, "right"), one.grade, key=GRADES.index)
    return {
        "tasks": _count_grades(worst.values()),
        "programs": _count_grades(one.grade for one in programs),
        "asked_again": sum(one.requests > 1 for one in programs),
    }


def _count_grades(grades: Iterable[Grade]) -> dict[str, int]:
    found = Counter(grades)
    return {grade: found[grade] for grade in GRADES if found[grade]}


def _describe(one: PlayedProgram) -> str:
    """Return a line about a program: its grade, the answer and the truth, and what was said."""
    said = f"; {one.reason}" if one.reason else ""
    asked = f", asked {one.requests} times" if one.requests > 1 else ""
    answer = str(one.answer)[:80]
    return (
        f"{one.service} {one.task} ({one.style}): {one.grade}, answered {answer!r},"
        f" truth {str(one.truth)[:80]!r}{asked}{said}"
    )


if __name__ == "__main__":
    main()
