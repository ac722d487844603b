"""What is asked, and the ways of decoding in which it is."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from atc.config import Config
from protocols.ask import Ask
from sandbox.base import Sandbox
from toolflow_bench.decoding.frame import Case
from toolflow_bench.runner import Item, Worker
from toolflow_bench.services.service import NAMES, find_service
from toolflow_bench.suites.flights import QUESTIONS
from toolflow_bench.suites.flights import load as load_flights
from toolflow_bench.suites.toolflow import choose_tasks
from toolflow_bench.task import InvalidTask, Question, Task
from toolflow_bench.workers import OpenWorld, agent_worker

SAMPLE = 10
"""Questions about flights, and as many tasks."""

MODES: Mapping[str, Mapping[str, object]] = {
    "free": {"decoding": "off", "samples": 1, "max_repairs": 0},
    "free-repaired": {"decoding": "off"},
}
"""Mode → settings. The first has one greedy program and no repair; the other repairs as `atc run` does."""


Workers: TypeAlias = Mapping[tuple[str, str], Worker]
"""By mode and documentation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramCase(Case):
    """One question or task, as the runner asks it."""

    item: Item


def cases(*, sample: int, seed: int, data: Path | None) -> list[ProgramCase]:
    """`sample` questions about flights and as many short tasks, drawn by seed; `data` has the file of questions.

    Raises:
        InvalidTask: the questions or the tasks are not there.
    """
    path = data / QUESTIONS.name if data is not None and (data / QUESTIONS.name).is_file() else None
    questions = list(load_flights(path))
    rng = random.Random(f"{seed} programs")  # noqa: S311 - a sample, not secrecy
    drawn = {question.id for question in rng.sample(sorted(questions, key=lambda q: q.id), min(sample, len(questions)))}
    flights = tuple(operation.id for operation in find_service("flights").operations)
    asked = [_question(question, flights) for question in questions if question.id in drawn]
    return [*asked, *map(_task, choose_tasks("short", sample=sample, seed=seed))]


def services(some: Sequence[ProgramCase]) -> tuple[str, ...]:
    """The services whose tools the cases are asked with."""
    offered = {name: {operation.id for operation in find_service(name).operations} for name in NAMES}
    wanted = {candidate for case in some for candidate in case.item.candidates}
    return tuple(name for name in NAMES if offered[name] & wanted)


@contextmanager
def workers(
    ways: Sequence[tuple[str, str]], open_world: OpenWorld, *, ask: Ask, sandbox: Sandbox, config: Config
) -> Iterator[Workers]:
    """A worker for each mode and documentation, each with a world of its own."""
    with ExitStack() as stack:
        known = {}
        for mode, docs in ways:
            changed: dict[str, Any] = {"strategy": "chain", "docs": docs, **settings(mode)}
            opened = agent_worker(open_world, ask=ask, sandbox=sandbox, config=replace(config, **changed))
            known[mode, docs] = stack.enter_context(opened())
        yield known


def settings(mode: str) -> Mapping[str, object]:
    """What a mode sets.

    Raises:
        InvalidTask: there is no such mode.
    """
    if mode not in MODES:
        raise InvalidTask(f"no mode named {mode!r} in the suite 'programs'; there is {', '.join(MODES)}.")
    return MODES[mode]


def _question(question: Question, candidates: tuple[str, ...]) -> ProgramCase:
    item = Item(question=question, candidates=candidates, split="flights", services=("flights",))
    return ProgramCase(id=question.id, question=question.question, expected=question.answer, item=item)


def _task(task: Task) -> ProgramCase:
    item = replace(Item.of(task), split="toolflow")
    return ProgramCase(
        id=task.id, question=task.question, expected=task.answer, gold=tuple(dict.fromkeys(task.operations)), item=item
    )
