"""RestBench's files: tasks and specifications, the items that are asked, and the world that they are asked in."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from benchmarks.restbench.kinds import Operation
from benchmarks.restbench.mock import Mock
from benchmarks.runner import InvalidData, read_json
from protocols.sources import load_tools
from protocols.toolbox import Toolbox
from toolflow_bench.final_state import Snapshot
from toolflow_bench.grade import Verdict
from toolflow_bench.runner import Item
from toolflow_bench.task import CANDIDATES, Question

APIS = ("tmdb", "spotify")
ACCOUNT: Mapping[str, Mapping[str, Any]] = {
    "spotify": {
        "names": {"playlist": ("My Rock", "My R&B"), "device": ("My PC",)},
        "state": "/me/player",
        "facts": {"is_playing": True},
    }
}
"""What the tasks take for granted of the account: the same for every task."""
_FILES = "the folder of RestBench's files"
_NUMBERS = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")


class RestTask(NamedTuple):
    """One task. `gold` names operations as the file does: `GET /search/person`."""

    id: str
    query: str
    gold: tuple[str, ...]
    api: str


class RestBench(NamedTuple):
    """The data of some APIs. `lacking` are gold steps (task id, step) that no operation of the specification is."""

    tasks: list[RestTask]
    tools: Mapping[str, Toolbox]
    lacking: list[tuple[str, str]]


def load_restbench(folder: Path, apis: Sequence[str] = APIS) -> RestBench:
    """What `folder` holds of `apis`.

    Raises:
        InvalidData: the folder or a file is missing, or a file is not what it should be.
    """
    tools = {api: _tools(api, read_json(folder / f"{api}_oas.json", _FILES)) for api in apis}
    tasks = [task for api in apis for task in _tasks(folder / f"{api}_tasks.json", api)]
    known = {api: {pattern(Operation.of(tool).name) for tool in box.values()} for api, box in tools.items()}
    lacking = [(task.id, step) for task in tasks for step in task.gold if pattern(step) not in known[task.api]]
    return RestBench(tasks, tools, lacking)


class RestWorld(AbstractContextManager["RestWorld"]):
    """The mocks of the data's APIs, and their tools."""

    def __init__(self, data: RestBench, *, seed: int = 0) -> None:
        self.mocks = {api: Mock(box, seed=seed, **ACCOUNT.get(api, {})) for api, box in data.tools.items()}
        calls = [
            replace(tool, call=partial(self.mocks[api].answer, Operation.of(tool)))
            for api, box in data.tools.items()
            for tool in box.values()
        ]
        self.toolbox = Toolbox(calls)

    def reset(self) -> None:
        """Forget what the last task searched for and wrote."""
        for mock in self.mocks.values():
            mock.reset()

    def snapshot(self) -> Snapshot:
        """Nothing: what a run left is not judged."""
        return {}

    def __exit__(self, *_: object) -> None:
        """Nothing is open."""


def items(data: RestBench, toolbox: Toolbox, *, seed: int) -> list[Item]:
    """What is asked: each task with the tools of its gold path and distractors of the same API, drawn by `seed`.

    Gold steps that the specification lacks are left out of the path that a run is compared with.
    """
    return [_item(task, operations_of(toolbox, task.api), seed) for task in data.tasks]


def operations_of(toolbox: Toolbox, api: str) -> dict[str, str]:
    """Pattern of an operation (`GET /movie/{}`) → alias of its tool."""
    return {pattern(Operation.of(tool).name): alias for alias, tool in toolbox.items() if tool.source == api}


def pattern(name: str) -> str:
    """`get /movie/{movie_id}/` → `GET /movie/{}`: an operation, whatever its arguments are called."""
    method, _, path = name.strip().partition(" ")
    return f"{method.upper()} {re.sub(r'{[^}]*}', '{}', path.strip().rstrip('/'))}"


def _item(task: RestTask, aliases: Mapping[str, str], seed: int) -> Item:
    gold = tuple(aliases[pattern(step)] for step in task.gold if pattern(step) in aliases)
    draw = random.Random(f"{seed} {task.id}")
    needed = list(dict.fromkeys(gold))
    others = sorted(set(aliases.values()) - set(needed))
    chosen = [*needed, *draw.sample(others, min(max(CANDIDATES - len(needed), 0), len(others)))]
    draw.shuffle(chosen)
    about = {"id": task.id, "question": task.query, "answer": None, "type": "none"}
    return Item(
        question=Question(**about, calls=max(len(task.gold), 1), extra={"gold_path": list(task.gold)}),
        gold=gold,
        candidates=tuple(chosen),
        services=(task.api,),
        writes=any(not step.strip().upper().startswith("GET") for step in task.gold),
        grade=_answered,
    )


def _answered(answer: str | None, _state: Snapshot | None) -> Verdict:
    """Whether there is an answer: what the mock says is made up, so none can be judged."""
    why = "no answer" if answer is None else "answered; not judged, the facts are made up"
    return Verdict(correct=answer is not None, reason=why)


def _tasks(path: Path, api: str) -> list[RestTask]:
    rows = read_json(path, _FILES)
    try:
        return [RestTask(row["id"], row["query"].strip(), tuple(map(str.strip, row["gold_path"])), api) for row in rows]
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidData(
            f"{path}: a task must have the texts 'id' and 'query' and a list 'gold_path' such as ['GET /search/movie'] "
            f"({error!r}); fetch the file again."
        ) from error


def _tools(api: str, document: Any) -> Toolbox:
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{api}.json"
        path.write_text(json.dumps(_mended(document)), encoding="utf-8")
        return load_tools(f"{api}={path}")


def _mended(value: Any, *, names: bool = False) -> Any:
    """The document with what it gets wrong put right where it says itself what is meant. `names`: keys are names.

    Booleans and numbers in quotes; fields that are required and do not exist; a property without a name.
    """
    if isinstance(value, list):
        return [_mended(part) for part in value]
    if not isinstance(value, dict):
        return value
    found = {key: _mended(part, names=key in ("properties", "schemas")) for key, part in value.items()}
    if names:
        return found if "" not in found else found | {"results": {"type": "array", "items": found.pop("")}}
    for key in ("required", "nullable", "explode", "deprecated"):
        if found.get(key) in ("true", "false"):
            found[key] = found[key] == "true"
    for key in (*_NUMBERS, *(("default",) if found.get("type") in ("integer", "number") else ())):
        if isinstance(text := found.get(key), str) and re.fullmatch(r"-?\d+", text):
            found[key] = int(text)
    if isinstance(found.get("properties"), dict) and isinstance(found.get("required"), list):
        found["required"] = [name for name in found["required"] if name in found["properties"]]
    if isinstance(alternatives := found.get("oneOf"), list) and {"type": "integer"} in alternatives:
        found["anyOf"] = found.pop("oneOf")  # an integer is a number, so both would hold of it
    return found
