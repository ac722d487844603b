"""Faults of services that are injected while the correct program of a task runs."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from atc.core.json_paths import format_json_path, generalize
from benchmarks.blame.gold import ObservedGold, Truth
from protocols.schema import Json, JsonObject
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.trace import Trace
from toolflow_bench.services.faults import Faults, drift_answer
from toolflow_bench.world import World

LATENCY_MS = 1_000.0
"""Mean latency of a service whose responses must arrive too late, in milliseconds.

A response takes at least half of this time, so the client's time-out must be shorter than that.
"""
_FAULTS: Mapping[str, Mapping[str, Any]] = {
    "drift": {"rate_drift": 1.0},
    "http_500": {"rate_500": 1.0},
    "timeout": {"latency_ms": LATENCY_MS},
    "truncated": {"rate_truncated": 1.0},
    "dropped": {"rate_drop": 1.0},
}
BROKEN_KINDS = (*_FAULTS, "emptied")
"""Kinds of service faults.

`drift`: in all responses of one operation, a field is renamed, has another type, is null or is new.
The other kinds affect one call. `emptied`: the lists in its response are empty, and the program
does not check that.
"""
_DRAWS = 60


@dataclass(frozen=True, slots=True)
class ServiceBreak:
    """A fault of a service, injected while a gold program (the correct program of a task) runs.

    It happens at call number `call` of the program. A drift begins at this call.
    """

    kind: str
    call: int
    seed: int


def draw_broken(gold: ObservedGold, *, seed: int) -> Iterator[ServiceBreak]:
    """Yield one fault of each kind for the services of a task, each at a random call.

    For the kind `emptied`, only calls whose response has a list with items are drawn. For `drift`,
    a fault that changes a field which the program reads is preferred.
    """
    for kind in BROKEN_KINDS:
        rng = random.Random(f"{seed} {gold.task.id} {kind}")
        good = [(n, made) for n, made in enumerate(gold.calls) if not made.failed]
        if calls := [n for n, made in good if kind != "emptied" or _list_fields(made.result)]:
            draws = [
                ServiceBreak(kind, rng.choice(calls), rng.randrange(10**6)) for _ in range(_DRAWS)
            ]
            yield next(
                (draw for draw in draws if kind != "drift" or _is_read(gold, draw)), draws[0]
            )


def _is_read(gold: ObservedGold, broken: ServiceBreak) -> bool:
    """Return True if a drift changes a response field that the program reads."""
    made = gold.calls[broken.call]
    change = drift_answer(made.result, operation=made.tool, seed=broken.seed)[1]
    every = (
        one for values in gold.observed_values.values() for one in values if one.call is not None
    )
    read = {
        format_json_path(generalize(one.path))
        for one in every
        if gold.calls[one.call or 0].tool == made.tool
    }
    return not change.startswith("added") and not read.isdisjoint(
        _find_changed_path(change, made.result)
    )


class BreakingTools:
    """The tools of a `World` for one run in which a `ServiceBreak` happens.

    The faulty calls are made with the tools `impatient`, whose client has a short time-out.
    """

    def __init__(
        self, broken: ServiceBreak, gold: ObservedGold, world: World, impatient: Toolbox
    ) -> None:
        self._broken = broken
        self._gold = gold
        self._world = world
        self._impatient = impatient
        self._made = 0
        self._struck = ""
        self.toolbox = world.toolbox.map(self._wrap_tool)
        self.changes: list[str] = []  # the service's description of each drift

    def truths(self, trace: Trace) -> tuple[Truth, ...]:
        """Return the true locations of the injected fault: calls in the run's trace, and paths."""
        broken = self._broken
        whole = self._gold.place(self._broken.call, (), sure=True)
        if broken.kind == "emptied":
            result = next((call.result for call in trace.calls if call.index == broken.call), None)
            return tuple(replace(whole, path=path) for path in _list_fields(result, empty=True))
        if broken.kind != "drift":
            return (whole,)
        # Any call of the operation may show it, from the first that was changed on.
        own = [call for call in trace.calls if call.tool == whole.tool]
        lines = {call.line for call in own} or {whole.first_line}
        paths: list[str] = []
        for change in self.changes:
            for call in own:
                paths += _find_changed_path(change, call.result)
        spread = replace(whole, call=None, first_line=min(lines), last_line=max(lines))
        return tuple(replace(spread, path=path) for path in dict.fromkeys(paths))

    def _wrap_tool(self, tool: Tool) -> Tool:
        def call(arguments: JsonObject, *, idempotency_key: str | None = None) -> Json:
            broken = self._broken
            asked = json.dumps([tool.alias, arguments], sort_keys=True)
            again = (
                asked == self._struck
            )  # the host may send a call again with the same idempotency key
            number = self._made
            self._made = self._made + (not again)
            here = number == broken.call or again
            drifts = broken.kind == "drift" and tool.alias == self._gold.calls[broken.call].tool
            self._struck = asked if here else ""
            if not here and not (drifts and number >= broken.call):
                return tool.send(arguments, idempotency_key=idempotency_key).value
            if broken.kind == "emptied":
                return _empty_answer(tool.send(arguments, idempotency_key=idempotency_key).value)
            return self._break(tool, arguments, idempotency_key)

        return replace(tool, call=call)

    def _break(self, tool: Tool, arguments: JsonObject, key: str | None) -> Json:
        app = self._world.services[self._world.owners[tool.alias]].app
        rates = dict(_FAULTS[self._broken.kind])
        if self._broken.seed % 2 and "rate_drop" in rates:
            rates = {"rate_drop_after": 1.0}
        app.state.control.set_faults(Faults(seed=self._broken.seed, **rates))
        try:
            return self._impatient[tool.alias].send(arguments, idempotency_key=key).value
        finally:
            app.state.control.set_faults(None)
            latest = list(app.state.requests)[
                -3:
            ]  # an earlier request that was late may be recorded after this one
            self.changes += [
                one.change for one in latest if one.change and one.operation == tool.protocol.name
            ][-1:]


def _find_changed_path(change: str, answer: Json) -> list[str]:
    """Return the path in the full response that a drift changed; empty if the response lacks it.

    `change` is the service's description of the drift, such as "renamed a.b". The names in it do
    not show which fields are lists.
    """
    found = re.search(r"(?:renamed|type of|made|added) (\S+)", change)
    if found is None:
        return []
    names = found.group(1).removesuffix("_info" if change.startswith("added") else "").split(".")
    path = ""
    value = answer
    while names:
        if isinstance(value, list):
            if not value:
                return []
            path = f"{path}[]"
            value = value[0]
            continue
        name = names.pop(0)
        path = f"{path}.{name}".lstrip(".")
        value = value.get(name) if isinstance(value, Mapping) else None
        if names and value is None:
            return []
    return [path]


def _list_fields(result: Json, *, empty: bool = False) -> list[str]:
    """Return the fields of a response that are lists with items.

    If `empty` is True, return all fields that are lists.
    """
    fields = result.items() if isinstance(result, Mapping) else ()
    return [key for key, value in fields if isinstance(value, list) and (value or empty)]


def _empty_answer(result: Json) -> Json:
    """Return a response as if the service had found nothing: lists are empty, and counts are 0."""
    counts = {"total": 0, "pages": 0}
    if not isinstance(result, Mapping):
        return result
    return {
        key: [] if isinstance(value, list) else counts.get(key, value)
        for key, value in result.items()
    }
