"""RestBench's tasks and API documents, and mocked APIs that the tasks' tools call.

Tasks are converted to items, which are the questions of the benchmark's runner.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from atc.core.program import Program
from atc.core.types import Attempt, Solution
from benchmarks.restbench.mock import REFERENCE, Mock, Thing
from benchmarks.restbench.operations import MockOperation, singular
from benchmarks.restbench.values import scalar
from benchmarks.runner import InvalidData, read_json
from protocols.errors import AtcError, ToolError
from protocols.schema import Json
from protocols.sources import load_tools
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall, Trace
from toolflow_bench.final_state import Snapshot
from toolflow_bench.grade import Verdict
from toolflow_bench.runner import AnsweredItem, Item, OpenWorker, Worker
from toolflow_bench.task import CANDIDATES, GradedQuestion
from toolflow_bench.workers import build_answered_item, tools_for_item

APIS = ("tmdb", "spotify")
FOLDER = Path("../shared/data/restbench")


class RestBench(NamedTuple):
    """The tasks as in the data files, and the tools. Both are keyed by the name of the API."""

    tasks: Mapping[str, Sequence[Mapping[str, Any]]]
    tools: Mapping[str, Toolbox]


def load_restbench(folder: Path = FOLDER, apis: Sequence[str] = APIS) -> RestBench:
    """Load the tasks and tools of the given APIs from `folder`.

    Raises:
        InvalidData: the folder or a file is missing.
    """
    tasks = {
        api: read_json(folder / f"{api}_tasks.json", "the folder of RestBench's files")
        for api in apis
    }
    if lacking := [api for api in apis if not (folder / f"{api}_oas.json").is_file()]:
        raise InvalidData(
            f"{str(folder)!r} holds no {lacking[0]}_oas.json; give --data the folder of RestBench."
        )
    return RestBench(tasks, {api: load_tools(f"{api}={folder / api}_oas.json") for api in apis})


class RestWorld(ExitStack):
    """A mock of each API, and one toolbox with the tools that call the mocks."""

    def __init__(self, data: RestBench, *, seed: int = 0) -> None:
        super().__init__()
        self.mocks = {api: Mock(box, seed=seed) for api, box in data.tools.items()}
        every = [
            (self.mocks[api], tool) for api, box in data.tools.items() for tool in box.values()
        ]
        self.toolbox = Toolbox(
            replace(tool, call=partial(mock.answer, MockOperation.of(tool))) for mock, tool in every
        )

    def reset(self, _draw: str = "") -> None:
        for mock in self.mocks.values():
            mock.reset()

    def snapshot(self) -> Snapshot:
        return {}


def items(data: RestBench, toolbox: Toolbox, *, seed: int) -> list[Item]:
    """Return an item for each task, that is, a question for the runner with its tools.

    The tools are those of the task's gold path, and distractors: other tools of the same API, drawn
    with `seed`.
    """
    found = []
    for api, tasks in data.tasks.items():
        names = {
            pattern(MockOperation.of(tool).name): alias
            for alias, tool in toolbox.items()
            if tool.source == api
        }
        found += [_item(task, api, names, seed) for task in tasks]
    return found


def pattern(name: str) -> str:
    """Return an operation's name in a normal form: `get /movie/{movie_id}/` → `GET /movie/{}`."""
    method, _, path = name.strip().partition(" ")
    return f"{method.upper()} {re.sub(r'{[^}]*}', '{}', path.strip().rstrip('/'))}"


def _item(task: Mapping[str, Any], api: str, aliases: Mapping[str, str], seed: int) -> Item:
    steps = [step.strip() for step in task["gold_path"]]
    gold = tuple(aliases[pattern(step)] for step in steps)
    draw = random.Random(f"{seed} {task['id']}")
    needed = list(dict.fromkeys(gold))
    others = sorted(set(aliases.values()) - set(needed))
    chosen = [*needed, *draw.sample(others, min(CANDIDATES - len(needed), len(others)))]
    draw.shuffle(chosen)
    about = {"id": task["id"], "question": task["query"].strip(), "answer": None, "type": "none"}
    question = GradedQuestion(**about, calls=len(gold))
    tools: dict[str, Any] = {"gold": gold, "candidates": tuple(chosen), "services": (api,)}
    writes = any(not step.upper().startswith("GET") for step in steps)
    return Item(question=question, writes=writes, grade=_grade_answered, **tools)


def _grade_answered(answer: str | None, _state: Snapshot | None) -> Verdict:
    """Grade an answer as correct if there is one.

    Its content is not graded, since the mock invents all facts.
    """
    why = "no answer" if answer is None else "answered; not judged, the facts are made up"
    return Verdict(correct=answer is not None, reason=why)


class NoValue(AtcError):
    """An argument needs a value from an earlier response, but none has such a value."""


def replay_worker(data: RestBench, *, seed: int) -> OpenWorker:
    """Return a factory of workers that replay gold paths. Each worker has its own mocks."""

    @contextmanager
    def open_worker() -> Iterator[Worker]:
        with RestWorld(data, seed=seed) as world:

            def work(
                item: Item,
                /,
                *,
                seed: int,  # noqa: ARG001
                repeat: int,  # noqa: ARG001
                max_seconds: float | None,  # noqa: ARG001
            ) -> AnsweredItem:
                world.reset()
                return build_answered_item(
                    replay_gold_path(world, item), world, tools_for_item(world, item)
                )

            yield work

    return open_worker


def replay_gold_path(world: RestWorld, item: Item) -> Solution:
    """Make the calls of a gold path until one fails or needs an id that no response had.

    The status of the result is `solved` if all calls were made.
    """
    begun = time.monotonic()
    problem = ""
    mock = world.mocks[item.services[0]]
    tools = [world.toolbox[alias] for alias in item.gold]
    operations = [MockOperation.of(tool) for tool in tools]
    calls: list[ToolCall] = []
    seen: list[Thing] = []
    for number, (tool, operation) in enumerate(zip(tools, operations, strict=True)):
        wanted = [kind for step in operations[number:] for kind in _kinds(mock, step)]
        filling = _ArgumentFiller(mock, seen, operation, wanted)
        try:
            given = filling.arguments(tool)
            result = tool.call(tool.original_arguments(given))
        except (NoValue, ToolError) as error:
            problem = f"{tool.alias}: {error}"
            break
        calls.append(
            ToolCall(index=number, tool=tool.alias, arguments=given, line=number + 1, result=result)
        )
        seen = [*_things(mock, result), *seen]
    about: dict[str, Any] = {
        "status": "failed" if problem else "solved",
        "answer": problem or "every call was made",
    }
    attempts = (Attempt(Program(""), (), Trace(calls=tuple(calls)), None),)
    seconds = time.monotonic() - begun
    return Solution(
        task=item.question.question,
        attempts=attempts,
        tools=item.candidates,
        seconds=seconds,
        **about,
    )


def _things(mock: Mock, value: Json) -> Iterator[Thing]:
    """Yield the records that occur in a response of the mock."""
    if isinstance(value, dict) and (one := mock.things.get(str(value.get("id")))):
        yield one
    parts = value.values() if isinstance(value, dict) else value
    if isinstance(value, dict | list):
        for part in parts:
            yield from _things(mock, part)


def _kinds(mock: Mock, operation: MockOperation) -> list[str]:
    """Return the kinds of records, such as `movie`, whose ids the path of an operation needs.

    For a write, also return the kind of record that it writes.
    """
    words = [word for word in operation.words if word in mock.kinds]
    kinds = [kind for (path, _), kind in mock.parameters.items() if path == operation.path]
    return [*kinds, *(words[:1] or ["track"] if operation.method != "GET" else [])]


class _ArgumentFiller(NamedTuple):
    """Chooses the arguments of one call from the records in earlier responses.

    `seen` has these records, the newest first. `wanted` are the kinds of records that this and the
    later calls need; an argument with an enum gets the first of these kinds that the enum has.
    """

    mock: Mock
    seen: list[Thing]
    operation: MockOperation
    wanted: list[str]

    def arguments(self, tool: Tool) -> dict[str, Json]:
        """Return values for the required arguments. For a write, add its names, ids, URIs and body.

        Raises:
            NoValue: an argument needs an id of a kind that no response had.
        """
        found = dict[str, Json]()
        for alias, name in tool.arguments.items():
            is_named = name in ("name", "body") or REFERENCE.fullmatch(name) is not None
            required = alias in tool.required
            if required or (is_named and self.operation.method != "GET"):
                value = self.value(name, tool.protocol.parameters[name], need=required)
                if value is not None:
                    found[alias] = value
        return found

    def value(self, name: str, schema: Mapping[str, Any], *, need: bool) -> Json:
        """Return a value for one argument, or None if it is unknown and not needed.

        Raises:
            NoValue: the argument needs an id of a kind that no response had.
        """
        if kind := self.mock.parameters.get((self.operation.path, name)):
            return 1 if kind in self.mock.parts else self.newest_reference(kind, "id", need=True)
        if choices := schema.get("enum"):
            kinds = {singular(str(one)): one for one in choices}
            return next((kinds[kind] for kind in self.wanted if kind in kinds), choices[0])
        if schema.get("type") == "array":
            entry = self.value(name, schema.get("items", {}), need=need)
            return None if entry is None else [entry]
        if REFERENCE.fullmatch(name):
            kind = ["", *_kinds(self.mock, self.operation)][-1] if name != "context_uri" else ""
            return self.newest_reference(kind, "uri" if "uri" in name else "id", need=need)
        if schema.get("type") == "object":
            return self._object(schema, need=need)
        return scalar(schema, name)

    def _object(self, schema: Mapping[str, Any], *, need: bool) -> Json:
        """Return an object as an argument's value, with its required fields, ids and URIs.

        Return None if it would be empty.
        """
        found = dict[str, Json]()
        for key, part in schema.get("properties", {}).items():
            if key in schema.get("required", ()) or REFERENCE.fullmatch(key):
                value = self.value(key, part, need=need)
                if value is not None:
                    found[key] = value
        return found or None

    def newest_reference(self, kind: str, key: str, *, need: bool) -> Json:
        """Return the id or URI of the newest record of a kind. `key` says which of the two.

        An empty kind means any kind. If there is no such record, return None, or raise `NoValue` if
        the argument is needed.
        """
        one = next((one for one in self.seen if kind in (one.kind, "")), None)
        if one is None and need:
            raise NoValue(f"no answer before it holds the {key} of any {kind or 'thing'}.")
        if one is None:
            return None
        return one.id if key == "id" else f"spotify:{one.kind}:{one.id}"
