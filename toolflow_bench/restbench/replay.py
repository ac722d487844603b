"""Gold paths replayed call by call: the check that the mock takes in one call what it gave in another.

No model: each call's ids come from the answers before it, its other arguments from schemas and the question.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any

from atc.types import Attempt, Program, Solution
from protocols.errors import AtcError, ToolError
from protocols.jsontypes import Json
from protocols.schema import resolve
from protocols.toolbox import Tool
from sandbox.trace import ToolCall, Trace
from toolflow_bench.restbench.data import pattern
from toolflow_bench.restbench.document import Operation
from toolflow_bench.restbench.kinds import Kinds
from toolflow_bench.restbench.mock import Mock
from toolflow_bench.restbench.walk import walk
from toolflow_bench.restbench.words import singular
from toolflow_bench.restbench.world import RestWorld
from toolflow_bench.runner import Answered, Item, OpenWorker, Worker
from toolflow_bench.workers import answered, offered

_REFERENCE = re.compile(r"(.*_)?(ids?|uris?)")


class NoValue(AtcError):
    """An argument that no earlier answer holds a value of."""


def replay_worker(open_world: Callable[[], AbstractContextManager[RestWorld]]) -> OpenWorker:
    """Workers that replay the gold path of each item, each in a world of its own."""

    @contextmanager
    def opened() -> Iterator[Worker]:
        with open_world() as world:

            def work(item: Item, /, *, seed: int, repeat: int, max_seconds: float | None) -> Answered:  # noqa: ARG001 - the shape of a worker
                world.reset()
                return answered(replay(world, item), world, offered(world, item))

            yield work

    return opened


def replay(world: RestWorld, item: Item) -> Solution:
    """The gold path's calls, up to the first that fails or for which an id is missing; `solved` if all were made."""
    begun = time.monotonic()
    mock = world.mocks[item.services[0]]
    by_pattern = {pattern(name): operation for name, operation in mock.document.operations.items()}
    path = item.question.extra["gold_path"]
    steps = [by_pattern[pattern(str(step))] for step in path if pattern(str(step)) in by_pattern]
    memory = _Memory(mock, item.question.question)
    calls: list[ToolCall] = []
    problem = ""
    for number, (alias, operation) in enumerate(zip(item.gold, steps, strict=True)):
        tool = world.toolbox[alias]
        try:
            arguments = memory.arguments(tool, operation, steps[number + 1 :])
        except NoValue as error:
            problem = f"{operation.name}: {error}"
            break
        try:
            result = tool.call(tool.original(arguments))
        except ToolError as error:
            problem = f"{operation.name}: {error}"
            failed = ToolCall(index=number, tool=alias, arguments=arguments, line=number + 1)
            calls.append(replace(failed, error=str(error), status=error.status))
            break
        calls.append(ToolCall(index=number, tool=alias, arguments=arguments, line=number + 1, result=result))
        memory.note(operation, arguments, result)
    attempt = Attempt(Program(""), (), Trace(calls=tuple(calls)), None)
    return Solution(
        task=item.question.question,
        attempts=(attempt,),
        status="failed" if problem else "solved",
        answer=problem or "every call was made",
        tools=item.candidates,
        seconds=time.monotonic() - begun,
    )


class _Memory:
    """The ids that earlier answers gave, and how arguments are filled from them."""

    def __init__(self, mock: Mock, question: str) -> None:
        self.mock, self.kinds, self.question = mock, mock.kinds, question
        self.seen: list[tuple[str, str, Json]] = []

    def note(self, operation: Operation, arguments: Mapping[str, Json], result: Json) -> None:
        """Remember the ids of an answer; those of the newest answer come first."""
        named = self.mock.kinds_named(arguments, operation) if operation.method == "GET" else ()
        self.seen = [*walk(self.kinds, operation, result, named=named), *self.seen]

    def arguments(self, tool: Tool, operation: Operation, later: Sequence[Operation]) -> dict[str, Json]:
        """Arguments of a call, by alias.

        Raises:
            NoValue: an id is needed of a kind that no answer held.
        """
        wanted = [kind for step in later for kind in self._needs(step)]
        filled: dict[str, Json] = {}
        for alias, name in tool.arguments.items():
            schema = resolve(tool.protocol.parameters[name], tool.protocol.input_schema)
            if alias in tool.required or (operation.method != "GET" and self._matters(name, filled)):
                value = self._value(name, schema, operation, wanted, required=alias in tool.required)
                if value is not None:
                    filled[alias] = value
        return filled

    def _matters(self, name: str, filled: dict[str, Json]) -> bool:
        """Whether an optional argument of a write is worth giving: what it is about, and only once."""
        return name in ("name", "body") or (
            bool(_REFERENCE.fullmatch(name))
            and not any(
                _REFERENCE.fullmatch(known) and known.rsplit("_")[-1] in ("ids", "uris", "uri") for known in filled
            )
        )

    def _needs(self, operation: Operation) -> list[str]:
        kinds = [kind for (path, _), kind in self.kinds.parameters.items() if path == operation.path]
        return [*kinds, *([self._about(operation)] if operation.method != "GET" else [])]

    def _about(self, operation: Operation) -> str:
        """The kind of entity that a write is about: of the list at the same path, else of what is played."""
        reading = self.mock.document.operations.get(f"GET {operation.path}")
        found = {kind for kind, key, _ in self._listed(reading) if key == "id"} if reading else set()
        return next(iter(sorted(found)), "track" if "track" in self.kinds.of_paths else "")

    def _listed(self, operation: Operation) -> Iterator[tuple[str, str, Json]]:
        for kind in _list_kinds(self.kinds, operation):
            yield kind, "id", None

    def _value(self, name: str, schema: Any, operation: Operation, wanted: Sequence[str], *, required: bool) -> Json:
        if kind := self.kinds.parameters.get((operation.path, name)):
            return 1 if kind in self.kinds.parts else self._known(kind, "id", required=True)
        if _REFERENCE.fullmatch(name):
            return self._reference(name, schema, operation, required=required)
        choices = schema.get("enum") or (schema.get("items") or {}).get("enum")
        if choices:
            return self._choice(choices, schema, operation, wanted)
        match schema.get("type"):
            case "object":
                properties = schema.get("properties", {})
                inner = {
                    key: self._value(key, value, operation, wanted, required=required)
                    for key, value in properties.items()
                    if key in schema.get("required", ()) or _REFERENCE.fullmatch(key)
                }
                return {key: value for key, value in inner.items() if value is not None} or None
            case "array":
                entry = self._value(name, schema.get("items", {}), operation, wanted, required=required)
                return None if entry is None else [entry]
            case "integer" | "number":
                return int(schema.get("minimum", 1))
            case "boolean":
                return True
        return _named(self.question)

    def _reference(self, name: str, schema: Any, operation: Operation, *, required: bool) -> Json:
        key = "uri" if "uri" in name else "id"
        kind = self._about(operation) if name != "context_uri" else ""
        value = self._known(kind, key, required=required)
        if value is None or schema.get("type") != "array":
            return value
        return [value]

    def _known(self, kind: str, key: str, *, required: bool) -> Json:
        for other, name, value in self.seen:
            if name == key and (other == kind or not kind):
                return value
        if required:
            raise NoValue(f"no answer before it holds the {key} of any {kind or 'thing'}.")
        return None

    def _choice(self, choices: Sequence[Json], schema: Any, operation: Operation, wanted: Sequence[str]) -> Json:
        about = [self._about(operation)] if operation.method != "GET" else []
        kinds = [*about, *wanted]
        fitting = [choice for choice in choices if singular(str(choice)) in kinds]
        if schema.get("type") == "array":
            return list(fitting or choices[:1])
        first = sorted(fitting, key=lambda choice: kinds.index(singular(str(choice))))
        return (first or list(choices))[0]


def _list_kinds(kinds: Kinds, operation: Operation) -> list[str]:
    from toolflow_bench.restbench.entities import Entities
    from toolflow_bench.restbench.listing import Asked
    from toolflow_bench.restbench.render import Renderer

    renderer = Renderer(kinds.document, kinds, Entities(kinds), Asked(operation=operation, arguments={}))
    return [kind for kind, _ in renderer.lists(operation.response)]


def _named(question: str) -> str:
    """What a question names: in quotes, else its longest run of capitalized words after the first word."""
    if quoted := re.search(r"[\"']([^\"']+)[\"']", question):
        return quoted[1]
    runs = re.findall(r"(?<=\s)[A-Z0-9][\w&-]*(?:\s+(?:of\s+|the\s+)*[A-Z0-9][\w&-]*)*", question)
    return max(runs, key=len, default=question)
