"""Gold paths replayed call by call: the check that the mock takes in one call what it gave in another.

Ids come from the answers before, the rest from schemas and the question; no model is asked.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from atc.types import Attempt, Program, Solution
from benchmarks.restbench.data import RestBench, RestWorld
from benchmarks.restbench.mock import REFERENCE, Entity, Mock, Operation, singular
from protocols.errors import AtcError, ToolError
from protocols.jsontypes import Json
from protocols.toolbox import Tool
from sandbox.trace import ToolCall, Trace
from toolflow_bench.runner import Answered, Item, OpenWorker, Worker
from toolflow_bench.workers import answered, offered


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
        call = ToolCall(index=number, tool=tool.alias, arguments={}, line=number + 1)
        try:
            call = replace(
                call, arguments=memory.arguments(tool, [Operation.of(later) for later in tools[number + 1 :]])
            )
            call = replace(call, result=tool.call(tool.original(call.arguments)))
        except (NoValue, ToolError) as error:
            problem = f"{tool.alias}: {error}"
            break
        calls.append(call)
        memory.seen = [*memory.things(call.result), *memory.seen]
    return Solution(
        task=item.question.question,
        attempts=(Attempt(Program(""), (), Trace(calls=tuple(calls)), None),),
        status="failed" if problem else "solved",
        answer=problem or "every call was made",
        tools=item.candidates,
        seconds=time.monotonic() - begun,
    )


class _Memory:
    """The things that earlier answers gave, the newest first, and how arguments are filled from them."""

    def __init__(self, mock: Mock, question: str) -> None:
        self.seen: list[Entity] = []
        self._mock, self._question = mock, question

    def things(self, value: Json) -> Iterator[Entity]:
        """Those that an answer shows."""
        if isinstance(value, dict) and (one := self._mock.entities.get(str(value.get("id")))):
            yield one
        for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from self.things(part)

    def arguments(self, tool: Tool, later: Sequence[Operation]) -> dict[str, Json]:
        """Arguments of a call, by alias. Raises NoValue: an id is needed of a kind that no answer held."""
        operation = Operation.of(tool)
        wanted = [kind for step in (operation, *later) for kind in self._kinds(step)]
        filled: dict[str, Json] = {}
        for alias, name in tool.arguments.items():
            writes = operation.method != "GET" and (name in ("name", "body") or REFERENCE.fullmatch(name))
            if alias in tool.required or writes:
                value = self._value(name, tool.protocol.parameters[name], operation, wanted, alias in tool.required)
                if value is not None:
                    filled[alias] = value
        return filled

    def _kinds(self, operation: Operation) -> list[str]:
        """The kinds of things that an operation is about: its path's, and those that a write names."""
        words = [word for word in operation.words if word in self._mock.kinds]
        kinds = [kind for (path, _), kind in self._mock.parameters.items() if path == operation.path]
        return [*kinds, *(words[:1] or ["track"] if operation.method != "GET" else [])]

    def _value(
        self, name: str, schema: Mapping[str, Any], operation: Operation, wanted: Sequence[str], need: bool
    ) -> Json:
        array = schema.get("type") == "array"
        if kind := self._mock.parameters.get((operation.path, name)):
            return 1 if kind in self._mock.parts else self._known(kind, "id", need=True)
        if REFERENCE.fullmatch(name):
            kind = "" if name == "context_uri" else self._kinds(operation)[-1] if self._kinds(operation) else ""
            value = self._known(kind, "uri" if "uri" in name else "id", need=need)
            return [value] if value is not None and array else value
        if choices := schema.get("enum") or schema.get("items", {}).get("enum"):
            kinds = {singular(str(one)): one for one in choices}
            chosen = next((kinds[kind] for kind in wanted if kind in kinds), choices[0])
            return [chosen] if array else chosen
        match schema.get("type"):
            case "object":
                parts = {
                    key: self._value(key, part, operation, wanted, need)
                    for key, part in schema.get("properties", {}).items()
                    if key in schema.get("required", ()) or REFERENCE.fullmatch(key)
                }
                return {key: value for key, value in parts.items() if value is not None} or None
            case "array":
                entry = self._value(name, schema.get("items", {}), operation, wanted, need)
                return None if entry is None else [entry]
            case "integer" | "number":
                return int(schema.get("minimum", 1))
            case "boolean":
                return True
        return _named(self._question)

    def _known(self, kind: str, key: str, *, need: bool) -> Json:
        one = next((one for one in self.seen if kind in (one.kind, "")), None)
        if one is None and need:
            raise NoValue(f"no answer before it holds the {key} of any {kind or 'thing'}.")
        return None if one is None else one.id if key == "id" else f"spotify:{one.kind}:{one.id}"


def _named(question: str) -> str:
    """What a question names: in quotes, else its longest run of capitalized words after the first word."""
    if quoted := re.search(r"[\"']([^\"']+)[\"']", question):
        return quoted[1]
    runs = re.findall(r"(?<=\s)[A-Z0-9][\w&-]*(?:\s+(?:of\s+|the\s+)*[A-Z0-9][\w&-]*)*", question)
    return max(runs, key=len, default=question)
