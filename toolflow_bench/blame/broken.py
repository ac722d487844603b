"""Services that break at one call of a gold program, or change one operation's answers."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from atc.attribute.paths import general, text
from protocols.jsontypes import Json, JsonObject
from protocols.toolbox import Tool, Toolbox
from sandbox.trace import ToolCall, Trace
from toolflow_bench.mutants import Gold, Truth
from toolflow_bench.services.control import set_faults
from toolflow_bench.services.faults import Faults, drifted
from toolflow_bench.task import Task
from toolflow_bench.world import World

BrokenKind = Literal["drift", "http_500", "timeout", "truncated", "dropped", "emptied"]
"""`drift`: a field of one operation's answers is renamed, of another type, null or new. The others befall one call:
HTTP 500, no answer in time, an answer cut short, a connection closed before or after the work, and an answer whose
lists are empty, for which the program has no guard."""

BROKEN_KINDS: tuple[BrokenKind, ...] = get_args(BrokenKind)
_DRAWS = 60
LATENCY_MS = 1_000.0
"""What an answer waits at least half of where it is to come too late: the client must be less patient than that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A task whose services break at call `call` of its gold run, an `operation`; drift begins at that call."""

    task: Task
    kind: BrokenKind
    operation: str
    call: int
    line: int
    seed: int

    @property
    def id(self) -> str:
        """Names it among all of all tasks."""
        return f"{self.task.id}/{self.kind}/{self.call}"


def draw_broken(gold: Gold, *, seed: int = 0, kinds: Sequence[BrokenKind] = BROKEN_KINDS) -> Iterator[Broken]:
    """One of each kind at a call of the gold run, drawn by seed.

    For `emptied` it is a call with items in its answer; a `drift` changes a field that the program reads, where one of
    the draws does.
    """
    for kind in kinds:
        rng = random.Random(f"{seed} {gold.task.id} {kind}")  # noqa: S311 - must repeat
        fitting = [c for c in gold.calls if c.error is None and (kind != "emptied" or _lists(c.result))]
        if not fitting:
            continue
        draws = [(rng.choice(fitting), rng.randrange(10**6)) for _ in range(_DRAWS if kind == "drift" else 1)]
        call, own_seed = next((draw for draw in draws if kind != "drift" or _hits(gold, *draw)), draws[0])
        line = getattr(gold.sites[call.index], "lineno", call.line)
        yield Broken(task=gold.task, kind=kind, operation=call.tool, call=call.index, line=line, seed=own_seed)


def _hits(gold: Gold, call: ToolCall, seed: int) -> bool:
    """Whether the drift of this seed changes a field of the operation's answers that the program reads."""
    change = drifted(call.result, operation=call.tool, seed=seed)[1]
    paths = set(_changed_paths(change, call.result))
    every = (one for values in gold.seen.values() for one in values if one.call is not None)
    read = {text(general(one.path)) for one in every if gold.calls[one.call or 0].tool == call.tool}
    return not change.startswith("added") and bool(paths & read)


class Breaking:
    """A world's tools that break as one `Broken` says. `toolbox` is for one run; the world must be reset before it.

    `impatient` are the same tools with a time-out below half of `LATENCY_MS`; the broken calls are made with them.
    """

    def __init__(self, broken: Broken, world: World, impatient: Toolbox) -> None:
        self._broken, self._world, self._impatient = broken, world, impatient
        self._made = 0
        self._struck: tuple[str, str] | None = None
        self.toolbox = world.toolbox.map(self._wrapped)
        self.changes: list[str] = []
        """What drift did to each answer, in the service's words."""

    def truths(self, trace: Trace) -> tuple[Truth, ...]:
        """Where the fault truly lies, in terms of the run's trace."""
        broken = self._broken
        match broken.kind:
            case "drift":
                # Whichever call of the operation shows it, from the first that was changed on.
                every = {call.line for call in trace.calls if call.tool == broken.operation} or {broken.line}
                answers = [call.result for call in trace.calls if call.tool == broken.operation and call.error is None]
                paths = [
                    path for change in self.changes for answer in answers for path in _changed_paths(change, answer)
                ]
                return tuple(
                    Truth(tool=broken.operation, path=path, first_line=min(every), last_line=max(every))
                    for path in dict.fromkeys(paths)
                )
            case "emptied":
                result = next((call.result for call in trace.calls if call.index == broken.call), None)
                return tuple(self._at_call(path) for path in _lists(result, empty=True))
        return (self._at_call(""),)

    def _at_call(self, path: str) -> Truth:
        broken = self._broken
        return Truth(tool=broken.operation, path=path, first_line=broken.line, last_line=broken.line, call=broken.call)

    def _wrapped(self, tool: Tool) -> Tool:
        def call(arguments: JsonObject) -> Json:
            broken = self._broken
            asked = tool.alias, json.dumps(arguments, sort_keys=True)
            # The host may send a write again under its key, which is the same call of the program.
            again = asked == self._struck
            number, self._made = self._made, self._made + (not again)
            drifts = broken.kind == "drift" and tool.alias == broken.operation and number >= broken.call
            if number != broken.call and not drifts and not again:
                self._struck = None
                return tool.call(arguments)
            self._struck = asked if number == broken.call or again else None
            if broken.kind == "emptied":
                return _emptied(tool.call(arguments))
            return self._broken_call(tool, arguments)

        return replace(tool, call=call)

    def _broken_call(self, tool: Tool, arguments: JsonObject) -> Json:
        app = self._world.services[self._world.owners[tool.alias]].app
        set_faults(app, _FAULTS[self._broken.kind](self._broken.seed))
        try:
            return self._impatient[tool.alias].call(arguments)
        finally:
            set_faults(app, None)
            # A request that came too late before may be recorded after this one.
            latest = list(app.state.requests)[-3:]
            self.changes += [one.change for one in latest if one.change and one.operation == tool.protocol.name][-1:]


def _dropping(seed: int) -> Faults:
    return Faults(seed=seed, rate_drop=1.0) if seed % 2 else Faults(seed=seed, rate_drop_after=1.0)


_FAULTS: Mapping[str, Callable[[int], Faults]] = {
    "drift": lambda seed: Faults(seed=seed, rate_drift=1.0),
    "http_500": lambda seed: Faults(seed=seed, rate_500=1.0),
    "timeout": lambda seed: Faults(seed=seed, latency_ms=LATENCY_MS),
    "truncated": lambda seed: Faults(seed=seed, rate_truncated=1.0),
    "dropped": _dropping,
}


def _changed_paths(change: str, answer: Json) -> Iterator[str]:
    """The path of a change as the full response has it: the service's words give lists no step."""
    found = re.search(r"(?:renamed|type of|made|added) (\S+)", change)
    if found is not None:
        names = found.group(1).removesuffix("_info" if change.startswith("added") else "").split(".")
        yield from dict.fromkeys(_walked(answer, names))


def _walked(value: Json, names: Sequence[str], path: str = "") -> Iterator[str]:
    if isinstance(value, list):
        for item in value[:1]:
            yield from _walked(item, names, f"{path}[]")
        return
    if not names:
        yield path
        return
    inner = value.get(names[0]) if isinstance(value, Mapping) else None
    here = f"{path}.{names[0]}" if path else names[0]
    if len(names) == 1:
        yield here
    elif inner is not None:
        yield from _walked(inner, names[1:], here)


def _lists(result: Json, *, empty: bool = False) -> list[str]:
    """The fields of an answer that are lists with items; `empty`: all those that are lists."""
    if not isinstance(result, Mapping):
        return []
    return [key for key, value in result.items() if isinstance(value, list) and (value or empty)]


def _emptied(result: Json) -> Json:
    """The answer as the service gives it where there is nothing: no items, and a count of 0."""
    if not isinstance(result, Mapping):
        return result
    counts = {"total": 0, "pages": 0}
    return {k: [] if isinstance(v, list) else counts.get(k, v) for k, v in result.items()}
