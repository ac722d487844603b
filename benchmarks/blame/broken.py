"""Services that break at one call of a gold program, or change one operation's answers."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from atc.paths import general, text
from benchmarks.blame.gold import Gold, Truth
from protocols.jsontypes import Json, JsonObject
from protocols.toolbox import Tool, Toolbox
from sandbox.trace import Trace
from toolflow_bench.services.faults import Faults, drifted
from toolflow_bench.world import World

LATENCY_MS = 1_000.0
"""What an answer waits at least half of where it is to come too late: the client must be less patient than that."""
_FAULTS: Mapping[str, Mapping[str, Any]] = {
    "drift": {"rate_drift": 1.0},
    "http_500": {"rate_500": 1.0},
    "timeout": {"latency_ms": LATENCY_MS},
    "truncated": {"rate_truncated": 1.0},
    "dropped": {"rate_drop": 1.0},
}
BROKEN_KINDS = (*_FAULTS, "emptied")
"""`drift`: a field of one operation's answers is renamed, of another type, null or new. The others befall one call:
HTTP 500, no answer in time, an answer cut short, a connection closed before or after the work, and an answer whose
lists are empty, for which the program has no guard."""
_DRAWS = 60


@dataclass(frozen=True, slots=True)
class Broken:
    """Services break so at call `call` of a gold run; drift begins at that call."""

    kind: str
    call: int
    seed: int


def draw_broken(gold: Gold, *, seed: int) -> Iterator[Broken]:
    """One of each kind at a call of the gold run: `emptied` at one with items in its answer, a `drift` of a field that
    the program reads, where one of the draws is.
    """
    for kind in BROKEN_KINDS:
        rng = random.Random(f"{seed} {gold.task.id} {kind}")
        good = [(n, made) for n, made in enumerate(gold.calls) if not made.failed]
        if calls := [n for n, made in good if kind != "emptied" or _lists(made.result)]:
            draws = [Broken(kind, rng.choice(calls), rng.randrange(10**6)) for _ in range(_DRAWS)]
            yield next((draw for draw in draws if kind != "drift" or _is_read(gold, draw)), draws[0])


def _is_read(gold: Gold, broken: Broken) -> bool:
    """Whether a drift changes a field of the operation's answers that the program reads."""
    made = gold.calls[broken.call]
    change = drifted(made.result, operation=made.tool, seed=broken.seed)[1]
    every = (one for values in gold.seen.values() for one in values if one.call is not None)
    read = {text(general(one.path)) for one in every if gold.calls[one.call or 0].tool == made.tool}
    return not change.startswith("added") and not read.isdisjoint(_changed(change, made.result))


class Breaking:
    """A world's tools that break as one `Broken` says. `toolbox` is for one run; the world must be reset before it.

    The broken calls are made with `impatient`, the same tools with a time-out below half of `LATENCY_MS`.
    """

    def __init__(self, broken: Broken, gold: Gold, world: World, impatient: Toolbox) -> None:
        self._broken, self._gold, self._world, self._impatient = broken, gold, world, impatient
        self._made, self._struck = 0, ""
        self.toolbox = world.toolbox.map(self._wrapped)
        self.changes: list[str] = []  # what drift did to each answer, in the service's words

    def truths(self, trace: Trace) -> tuple[Truth, ...]:
        """Where the fault truly lies, in terms of the run's trace."""
        broken, whole = self._broken, self._gold.place(self._broken.call, (), sure=True)
        if broken.kind == "emptied":
            result = next((call.result for call in trace.calls if call.index == broken.call), None)
            return tuple(replace(whole, path=path) for path in _lists(result, empty=True))
        if broken.kind != "drift":
            return (whole,)
        # Whichever call of the operation shows it, from the first that was changed on.
        own = [call for call in trace.calls if call.tool == whole.tool]
        lines = {call.line for call in own} or {whole.first_line}
        paths = [path for change in self.changes for call in own for path in _changed(change, call.result)]
        spread = replace(whole, call=None, first_line=min(lines), last_line=max(lines))
        return tuple(replace(spread, path=path) for path in dict.fromkeys(paths))

    def _wrapped(self, tool: Tool) -> Tool:
        def call(arguments: JsonObject) -> Json:
            broken, asked = self._broken, json.dumps([tool.alias, arguments], sort_keys=True)
            again = asked == self._struck  # the host may send a write again under its key: the program's same call
            number, self._made = self._made, self._made + (not again)
            here = number == broken.call or again
            drifts = broken.kind == "drift" and tool.alias == self._gold.calls[broken.call].tool
            self._struck = asked if here else ""
            if not here and not (drifts and number >= broken.call):
                return tool.call(arguments)
            if broken.kind == "emptied":
                return _emptied(tool.call(arguments))
            return self._break(tool, arguments)

        return replace(tool, call=call)

    def _break(self, tool: Tool, arguments: JsonObject) -> Json:
        app = self._world.services[self._world.owners[tool.alias]].app
        rates = dict(_FAULTS[self._broken.kind])
        if self._broken.seed % 2 and "rate_drop" in rates:
            rates = {"rate_drop_after": 1.0}
        app.state.control.set_faults(Faults(seed=self._broken.seed, **rates))
        try:
            return self._impatient[tool.alias].call(arguments)
        finally:
            app.state.control.set_faults(None)
            latest = list(app.state.requests)[-3:]  # one that came too late before may be recorded after this one
            self.changes += [one.change for one in latest if one.change and one.operation == tool.protocol.name][-1:]


def _changed(change: str, answer: Json) -> list[str]:
    """The path of a change as the full response has it, if it has: the service's words give lists no step."""
    found = re.search(r"(?:renamed|type of|made|added) (\S+)", change)
    if found is None:
        return []
    names = found.group(1).removesuffix("_info" if change.startswith("added") else "").split(".")
    path, value = "", answer
    while names:
        if isinstance(value, list):
            if not value:
                return []
            path, value = f"{path}[]", value[0]
            continue
        name = names.pop(0)
        path, value = f"{path}.{name}".lstrip("."), value.get(name) if isinstance(value, Mapping) else None
        if names and value is None:
            return []
    return [path]


def _lists(result: Json, *, empty: bool = False) -> list[str]:
    """The fields of an answer that are lists with items; `empty`: all those that are lists."""
    fields = result.items() if isinstance(result, Mapping) else ()
    return [key for key, value in fields if isinstance(value, list) and (value or empty)]


def _emptied(result: Json) -> Json:
    """The answer as the service gives it where there is nothing: no items, and a count of 0."""
    counts = {"total": 0, "pages": 0}
    if not isinstance(result, Mapping):
        return result
    return {key: [] if isinstance(value, list) else counts.get(key, value) for key, value in result.items()}
