"""Gold paths replayed call by call: the check that the mock takes in one call what it gave in another.

Ids come from the answers before, the rest from schemas and the question; no model is asked.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from atc.types import Attempt, Program, Solution
from benchmarks.restbench.data import RestBench, RestWorld
from benchmarks.restbench.kinds import Operation, singular
from benchmarks.restbench.mock import Mock
from protocols.errors import AtcError, ToolError
from protocols.jsontypes import Json
from protocols.toolbox import Tool
from sandbox.trace import ToolCall, Trace
from toolflow_bench.runner import Answered, Item, OpenWorker, Worker
from toolflow_bench.workers import answered, offered

_REFERENCE = re.compile(r"(.*_)?(ids?|uris?)")


class NoValue(AtcError):
    """An argument that no earlier answer holds a value of."""


def replay_worker(data: RestBench, *, seed: int) -> OpenWorker:
    """Workers that replay the gold path of each item, each in a world of its own."""

    @contextmanager
    def opened() -> Iterator[Worker]:
        with RestWorld(data, seed=seed) as world:

            def work(item: Item, /, *, seed: int, repeat: int, max_seconds: float | None) -> Answered:  # noqa: ARG001 - the shape of a worker
                world.reset()
                return answered(replay(world, item), world, offered(world, item))

            yield work

    return opened


def replay(world: RestWorld, item: Item) -> Solution:
    """The gold path's calls, up to the first that fails or for which an id is missing; `solved` if all were made."""
    begun, problem = time.monotonic(), ""
    tools = [world.toolbox[alias] for alias in item.gold]
    memory = _Memory(world.mocks[item.services[0]], item.question.question)
    calls: list[ToolCall] = []
    for number, tool in enumerate(tools):
        operation = Operation.of(tool)
        call = ToolCall(index=number, tool=tool.alias, arguments={}, line=number + 1)
        try:
            arguments = memory.arguments(tool, operation, [Operation.of(later) for later in tools[number + 1 :]])
            call = replace(call, arguments=arguments)
            call = replace(call, result=tool.call(tool.original(arguments)))
        except (NoValue, ToolError) as error:
            problem = f"{operation.name}: {error}"
            if isinstance(error, ToolError):
                calls.append(replace(call, error=str(error), status=error.status))
            break
        calls.append(call)
        memory.note(call.result)
    return Solution(
        task=item.question.question,
        attempts=(Attempt(Program(""), (), Trace(calls=tuple(calls)), None),),
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
        """(kind, `id` or `uri`, value), those of the newest answer first."""

    def note(self, result: Json) -> None:
        """Remember the ids of an answer."""
        self.seen = [*self._ids(result), *self.seen]

    def _ids(self, value: Json) -> Iterator[tuple[str, str, Json]]:
        if isinstance(value, dict):
            for key in value.keys() & {"id", "uri"}:
                if entity := self.mock.entities.get(str(value[key]).rsplit(":", 1)[-1]):
                    yield entity.kind, key, value[key]
        for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from self._ids(part)

    def arguments(self, tool: Tool, operation: Operation, later: Sequence[Operation]) -> dict[str, Json]:
        """Arguments of a call, by alias. Raises NoValue: an id is needed of a kind that no answer held."""
        wanted = [kind for step in later for kind in self._needs(step)]
        filled: dict[str, Json] = {}
        for alias, name in tool.arguments.items():
            required = alias in tool.required
            about = any(known.rsplit("_")[-1] in ("ids", "uris", "uri") for known in filled)
            optional = operation.method != "GET" and (name in ("name", "body") or _REFERENCE.fullmatch(name))
            if required or (optional and not about):
                value = self._value(name, tool.protocol.parameters[name], operation, wanted, required=required)
                if value is not None:
                    filled[alias] = value
        return filled

    def _needs(self, operation: Operation) -> list[str]:
        kinds = [kind for (path, _), kind in self.kinds.parameters.items() if path == operation.path]
        return [*kinds, *([self._about(operation)] if operation.method != "GET" else [])]

    def _about(self, operation: Operation) -> str:
        """The kind of thing that a write is about: of the list at the same path, else what is played."""
        listed = self.mock.listed(operation)
        return listed[0] if listed else "track"

    def _value(self, name: str, schema: Any, operation: Operation, wanted: Sequence[str], *, required: bool) -> Json:
        if kind := self.kinds.parameters.get((operation.path, name)):
            return 1 if kind in self.kinds.parts else self._known(kind, "id", required=True)
        if _REFERENCE.fullmatch(name):
            kind = self._about(operation) if name != "context_uri" else ""
            value = self._known(kind, "uri" if "uri" in name else "id", required=required)
            return [value] if value is not None and schema.get("type") == "array" else value
        if choices := schema.get("enum") or schema.get("items", {}).get("enum"):
            kinds = [*([self._about(operation)] if operation.method != "GET" else []), *wanted]
            fitting = sorted(
                (one for one in choices if singular(str(one)) in kinds), key=lambda one: kinds.index(singular(str(one)))
            )
            return list(fitting or choices[:1]) if schema.get("type") == "array" else (fitting or list(choices))[0]
        match schema.get("type"):
            case "object":
                asked = [
                    key
                    for key in schema.get("properties", {})
                    if key in schema.get("required", ()) or _REFERENCE.fullmatch(key)
                ]
                parts = {
                    key: self._value(key, schema["properties"][key], operation, wanted, required=required)
                    for key in asked
                }
                return {key: value for key, value in parts.items() if value is not None} or None
            case "array":
                entry = self._value(name, schema.get("items", {}), operation, wanted, required=required)
                return None if entry is None else [entry]
            case "integer" | "number":
                return int(schema.get("minimum", 1))
            case "boolean":
                return True
        return _named(self.question)

    def _known(self, kind: str, key: str, *, required: bool) -> Json:
        for other, name, value in self.seen:
            if name == key and kind in (other, ""):
                return value
        if required:
            raise NoValue(f"no answer before it holds the {key} of any {kind or 'thing'}.")
        return None


def _named(question: str) -> str:
    """What a question names: in quotes, else its longest run of capitalized words after the first word."""
    if quoted := re.search(r"[\"']([^\"']+)[\"']", question):
        return quoted[1]
    runs = re.findall(r"(?<=\s)[A-Z0-9][\w&-]*(?:\s+(?:of\s+|the\s+)*[A-Z0-9][\w&-]*)*", question)
    return max(runs, key=len, default=question)
