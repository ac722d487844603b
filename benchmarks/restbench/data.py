"""RestBench's files: tasks and specifications, the items that are asked, and the world that they are asked in."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.restbench.mock import Mock, Operation
from benchmarks.runner import InvalidData, read_json
from protocols.sources import load_tools
from protocols.toolbox import Toolbox
from toolflow_bench.final_state import Snapshot
from toolflow_bench.grade import Verdict
from toolflow_bench.runner import Item
from toolflow_bench.task import CANDIDATES, Question

APIS = ("tmdb", "spotify")
FOLDER = Path("../shared/data/restbench")


class RestBench(NamedTuple):
    """Tasks as the files have them, by API, and the tools of each API."""

    tasks: Mapping[str, Sequence[Mapping[str, Any]]]
    tools: Mapping[str, Toolbox]


def load_restbench(folder: Path = FOLDER, apis: Sequence[str] = APIS) -> RestBench:
    """What `folder` holds of `apis`.

    Raises:
        InvalidData: the folder or a file is missing.
    """
    tasks = {api: read_json(folder / f"{api}_tasks.json", "the folder of RestBench's files") for api in apis}
    if lacking := [api for api in apis if not (folder / f"{api}_oas.json").is_file()]:
        raise InvalidData(f"{str(folder)!r} holds no {lacking[0]}_oas.json; give --data the folder of RestBench.")
    return RestBench(tasks, {api: load_tools(f"{api}={folder / api}_oas.json") for api in apis})


class RestWorld(AbstractContextManager["RestWorld"]):
    """The mocks of the data's APIs, and their tools."""

    def __init__(self, data: RestBench, *, seed: int = 0) -> None:
        self.mocks = {api: Mock(box, seed=seed) for api, box in data.tools.items()}
        calls = [
            replace(tool, call=partial(self.mocks[api].answer, Operation.of(tool)))
            for api, box in data.tools.items()
            for tool in box.values()
        ]
        self.toolbox = Toolbox(calls)

    def reset(self) -> None:
        """Forget what the last task searched for."""
        for mock in self.mocks.values():
            mock.reset()

    def snapshot(self) -> Snapshot:
        """Nothing: what a run left is not judged."""
        return {}

    def __exit__(self, *_: object) -> None:
        """Nothing is open."""


def items(data: RestBench, toolbox: Toolbox, *, seed: int) -> list[Item]:
    """What is asked: each task with the tools of its gold path and distractors of the same API, drawn by `seed`."""
    found = []
    for api, tasks in data.tasks.items():
        names = {_pattern(Operation.of(tool).name): alias for alias, tool in toolbox.items() if tool.source == api}
        found += [_item(task, api, names, seed) for task in tasks]
    return found


def _pattern(name: str) -> str:
    """`get /movie/{movie_id}/` → `GET /movie/{}`: an operation, whatever its arguments are called."""
    method, _, path = name.strip().partition(" ")
    return f"{method.upper()} {re.sub(r'{[^}]*}', '{}', path.strip().rstrip('/'))}"


def _item(task: Mapping[str, Any], api: str, aliases: Mapping[str, str], seed: int) -> Item:
    steps = [step.strip() for step in task["gold_path"]]
    gold = tuple(aliases[_pattern(step)] for step in steps)
    draw = random.Random(f"{seed} {task['id']}")
    needed = list(dict.fromkeys(gold))
    others = sorted(set(aliases.values()) - set(needed))
    chosen = [*needed, *draw.sample(others, min(CANDIDATES - len(needed), len(others)))]
    draw.shuffle(chosen)
    about = {"id": task["id"], "question": task["query"].strip(), "answer": None, "type": "none"}
    return Item(
        question=Question(**about, calls=len(gold), extra={"gold_path": steps}),
        gold=gold,
        candidates=tuple(chosen),
        services=(api,),
        writes=any(not step.upper().startswith("GET") for step in steps),
        grade=_answered,
    )


def _answered(answer: str | None, _state: Snapshot | None) -> Verdict:
    """Whether there is an answer: what the mock says is made up, so none can be judged."""
    why = "no answer" if answer is None else "answered; not judged, the facts are made up"
    return Verdict(correct=answer is not None, reason=why)
