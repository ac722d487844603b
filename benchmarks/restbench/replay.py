"""Gold paths replayed call by call: the check that the mock takes in one call what it gave in another.

Ids come from the answers before, the rest from schemas; no model is asked.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from atc.types import Attempt, Program, Solution
from benchmarks.restbench.data import RestBench, RestWorld
from benchmarks.restbench.mock import REFERENCE, Mock, Operation, Thing, scalar, singular
from protocols.errors import AtcError, ToolError
from protocols.jsontypes import Json
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
    mock, tools = world.mocks[item.services[0]], [world.toolbox[alias] for alias in item.gold]
    operations = [Operation.of(tool) for tool in tools]
    calls: list[ToolCall] = []
    seen: list[Thing] = []
    for number, (tool, operation) in enumerate(zip(tools, operations, strict=True)):
        wanted = [kind for step in operations[number:] for kind in _kinds(mock, step)]
        filling, given = _Filling(mock, seen, operation, wanted), dict[str, Json]()
        try:
            for alias, name in tool.arguments.items():
                writes = operation.method != "GET" and (name in ("name", "body") or REFERENCE.fullmatch(name))
                if alias in tool.required or writes:
                    value = filling.value(name, tool.protocol.parameters[name], need=alias in tool.required)
                    given |= {} if value is None else {alias: value}
            result = tool.call(tool.original(given))
        except (NoValue, ToolError) as error:
            problem = f"{tool.alias}: {error}"
            break
        calls.append(ToolCall(index=number, tool=tool.alias, arguments=given, line=number + 1, result=result))
        seen = [*_things(mock, result), *seen]
    return Solution(
        task=item.question.question,
        attempts=(Attempt(Program(""), (), Trace(calls=tuple(calls)), None),),
        status="failed" if problem else "solved",
        answer=problem or "every call was made",
        tools=item.candidates,
        seconds=time.monotonic() - begun,
    )


def _things(mock: Mock, value: Json) -> Iterator[Thing]:
    """Those that an answer shows."""
    if isinstance(value, dict) and (one := mock.things.get(str(value.get("id")))):
        yield one
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _things(mock, part)


def _kinds(mock: Mock, operation: Operation) -> list[str]:
    """The kinds of things that an operation is about: its path's, and those that a write names."""
    words = [word for word in operation.words if word in mock.kinds]
    kinds = [kind for (path, _), kind in mock.parameters.items() if path == operation.path]
    return [*kinds, *(words[:1] or ["track"] if operation.method != "GET" else [])]


class _Filling(NamedTuple):
    """How one call's arguments are filled: from the things `seen`, the newest first; enums by the kinds `wanted`."""

    mock: Mock
    seen: list[Thing]
    operation: Operation
    wanted: list[str]

    def value(self, name: str, schema: Mapping[str, Any], *, need: bool) -> Json:
        """Of one argument. Raises NoValue: an id is needed of a kind that no answer held."""
        if kind := self.mock.parameters.get((self.operation.path, name)):
            return 1 if kind in self.mock.parts else self.known(kind, "id", need=True)
        if choices := schema.get("enum"):
            kinds = {singular(str(one)): one for one in choices}
            return next((kinds[kind] for kind in self.wanted if kind in kinds), choices[0])
        if schema.get("type") == "array":
            entry = self.value(name, schema.get("items", {}), need=need)
            return None if entry is None else [entry]
        if REFERENCE.fullmatch(name):
            kind = ["", *_kinds(self.mock, self.operation)][-1] if name != "context_uri" else ""
            return self.known(kind, "uri" if "uri" in name else "id", need=need)
        if schema.get("type") == "object":
            parts = schema.get("properties", {})
            own = {key for key in parts if key in schema.get("required", ()) or REFERENCE.fullmatch(key)}
            found = {key: self.value(key, parts[key], need=need) for key in parts if key in own}
            return {key: value for key, value in found.items() if value is not None} or None
        return scalar(schema, name)

    def known(self, kind: str, key: str, *, need: bool) -> Json:
        """The id or uri of the newest thing of a kind; of any kind where that is empty."""
        one = next((one for one in self.seen if kind in (one.kind, "")), None)
        if one is None and need:
            raise NoValue(f"no answer before it holds the {key} of any {kind or 'thing'}.")
        return None if one is None else one.id if key == "id" else f"spotify:{one.kind}:{one.id}"
