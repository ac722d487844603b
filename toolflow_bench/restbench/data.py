"""RestBench's files: the tasks of each API and its specification, and the items that are asked."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protocols.jsontypes import Json
from protocols.protocol import HttpBinding
from protocols.toolbox import Toolbox
from toolflow_bench.final_state import Snapshot
from toolflow_bench.grade import Verdict
from toolflow_bench.restbench.document import Document, InvalidData, read_document, read_json
from toolflow_bench.restbench.mock import Preset
from toolflow_bench.runner import Item
from toolflow_bench.task import CANDIDATES, Question

APIS = ("tmdb", "spotify")

PRESETS: Mapping[str, Preset] = {
    # What the tasks take for granted of the account: the same for every task.
    "spotify": Preset(
        names={"playlist": ("My Rock", "My R&B"), "device": ("My PC",)},
        facts={"is_playing": True},
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RestTask:
    """One task. `gold` names operations as the file does: `GET /search/person`."""

    id: str
    query: str
    gold: tuple[str, ...]
    api: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RestBench:
    """The data of some APIs. `lacking` are gold steps (task id, step) that no operation of the specification is."""

    tasks: tuple[RestTask, ...]
    documents: Mapping[str, Document]
    lacking: tuple[tuple[str, str], ...]


def load_restbench(folder: Path, apis: Sequence[str] = APIS) -> RestBench:
    """What `folder` holds of `apis`.

    Raises:
        InvalidData: the folder or a file is missing, or a file is not what it should be.
    """
    if not folder.is_dir():
        raise InvalidData(
            f"there is no folder {str(folder)!r}; give --data the folder with RestBench's tmdb_oas.json, "
            "tmdb_tasks.json, spotify_oas.json and spotify_tasks.json."
        )
    documents = {api: read_document(folder / f"{api}_oas.json") for api in apis}
    tasks = tuple(task for api in apis for task in _tasks(folder / f"{api}_tasks.json", api))
    known = {api: {pattern(name) for name in document.operations} for api, document in documents.items()}
    lacking = [(task.id, step) for task in tasks for step in task.gold if pattern(step) not in known[task.api]]
    return RestBench(tasks=tasks, documents=documents, lacking=tuple(lacking))


def items(data: RestBench, toolbox: Toolbox, *, seed: int) -> list[Item]:
    """What is asked: each task with the tools of its gold path and distractors of the same API, drawn by `seed`.

    Gold steps that the specification lacks are left out of the path that a run is compared with.
    """
    aliases = {api: operations_of(toolbox, api) for api in data.documents}
    return [_item(task, aliases[task.api], seed) for task in data.tasks]


def operations_of(toolbox: Toolbox, api: str) -> dict[str, str]:
    """Pattern of an operation (`GET /movie/{}`) → alias of its tool."""
    found: dict[str, str] = {}
    for alias, tool in toolbox.items():
        if tool.source == api and isinstance(binding := tool.protocol.binding, HttpBinding):
            path = "/" + binding.url.split("?")[0].split("/", 3)[-1]
            found[pattern(f"{binding.method} {path}")] = alias
    return found


def pattern(name: str) -> str:
    """`get /movie/{movie_id}/` → `GET /movie/{}`: an operation, whatever its arguments are called."""
    method, _, path = name.strip().partition(" ")
    return f"{method.upper()} {re.sub(r'{[^}]*}', '{}', path.strip().rstrip('/'))}"


def _item(task: RestTask, aliases: Mapping[str, str], seed: int) -> Item:
    gold = tuple(aliases[pattern(step)] for step in task.gold if pattern(step) in aliases)
    draw = random.Random(f"{seed} {task.id}")  # noqa: S311 - distractors, not secrecy
    needed = list(dict.fromkeys(gold))
    others = sorted(set(aliases.values()) - set(needed))
    chosen = [*needed, *draw.sample(others, min(max(CANDIDATES - len(needed), 0), len(others)))]
    draw.shuffle(chosen)
    extra: dict[str, Json] = {"gold_path": list(task.gold)}
    question = Question(
        id=task.id, question=task.query, answer=None, type="none", calls=max(len(task.gold), 1), extra=extra
    )
    writes = any(not step.strip().upper().startswith("GET") for step in task.gold)
    return Item(
        question=question,
        gold=gold,
        candidates=tuple(chosen),
        services=(task.api,),
        writes=writes,
        grade=_answered,
    )


def _answered(answer: str | None, _state: Snapshot | None) -> Verdict:
    """Whether there is an answer: what the mock says is made up, so none can be judged."""
    if answer is None:
        return Verdict(correct=False, reason="no answer")
    return Verdict(correct=True, reason="answered; not judged, the facts are made up")


def _tasks(path: Path, api: str) -> list[RestTask]:
    rows = read_json(path)
    if not isinstance(rows, list) or not rows:
        raise InvalidData(f"{str(path)!r} must be a list of tasks, got {type(rows).__name__}; fetch the file again.")
    tasks = [_task(row, f"{path}, task {number}", api) for number, row in enumerate(rows)]
    repeated = [name for name, count in Counter(task.id for task in tasks).items() if count > 1]
    if repeated:
        raise InvalidData(f"{str(path)!r}: the id {repeated[0]!r} stands twice; give each task its own.")
    return tasks


def _task(row: Any, where: str, api: str) -> RestTask:
    if not isinstance(row, dict):
        raise InvalidData(f"{where}: a task must be an object with id, query and gold_path; fetch the file again.")
    for name in ("id", "query"):
        if not isinstance(row.get(name), str) or not row[name].strip():
            raise InvalidData(f"{where}: {name!r} must be a text, got {row.get(name)!r}; fetch the file again.")
    gold = row.get("gold_path")
    if (
        not isinstance(gold, list)
        or not gold
        or not all(isinstance(step, str) and " " in step.strip() for step in gold)
    ):
        raise InvalidData(
            f"{where}: 'gold_path' must be a list such as ['GET /search/movie'], got {gold!r}; fetch the file again."
        )
    return RestTask(id=row["id"], query=row["query"].strip(), gold=tuple(step.strip() for step in gold), api=api)
