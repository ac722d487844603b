"""Inject faults into gold programs and services, and measure if attribution blames the right call.

Attribution is the step of atc that finds the call which caused a failure. A gold program is the
known correct program of a task. The true location of each injected fault is known. No model is
used. The counts are: `none`: the fault had no effect. `wrong`: the answer or the written state is
wrong, and there was no warning. `doubted`: there was a warning about the answer. `shown`: the
static check found something, the run failed, or it gave no answer. `right` counts the shown faults
for which attribution blamed the right call *and* path. A finding of the static check precedes any
call, so for such a finding the tool, the path and the line must be right.
"""

from __future__ import annotations

import ast
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import Any

import click

from atc.core.json_paths import format_json_path, generalize
from atc.core.types import Fault, Program
from atc.pipeline.attribute import attribute
from atc.pipeline.check import check
from atc.pipeline.doubts import doubts
from benchmarks.blame.gold import NoObservation, ObservedGold, Truth, observe
from benchmarks.blame.mutants import MUTANT_KINDS, Mutant, mutants, pick
from benchmarks.runner import share_with_interval, suite, track_progress
from protocols.client import Invoker, InvokeSettings
from protocols.python_source import parse_python
from protocols.schema import Json, JsonObject
from protocols.sources import load_tools
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.choose import open_sandbox
from sandbox.journal import Journal
from sandbox.lost_writes import WriteRecovery
from sandbox.trace import Pins, Trace
from toolflow_bench.checks.gold import CLOCK, LIMITS, run_program
from toolflow_bench.grade import grade
from toolflow_bench.services.faults import Faults, drift_answer
from toolflow_bench.suites import choose_tasks, services_of
from toolflow_bench.task import Task
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
                return tool.send(arguments, idempotency_key=idempotency_key)
            if broken.kind == "emptied":
                return _empty_answer(tool.send(arguments, idempotency_key=idempotency_key))
            return self._break(tool, arguments, idempotency_key)

        return replace(tool, call=call)

    def _break(self, tool: Tool, arguments: JsonObject, key: str | None) -> Json:
        app = self._world.services[self._world.owners[tool.alias]].app
        rates = dict(_FAULTS[self._broken.kind])
        if self._broken.seed % 2 and "rate_drop" in rates:
            rates = {"rate_drop_after": 1.0}
        app.state.control.set_faults(Faults(seed=self._broken.seed, **rates))
        try:
            return self._impatient[tool.alias].send(arguments, idempotency_key=key)
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


KINDS = (*MUTANT_KINDS, *BROKEN_KINDS)


Row = dict[str, Any]
"""The result of one fault.

`right` is True if attribution blames the true location, False if another one, and None if nothing
was detected. `doubts` has the warnings that the run of the unchanged gold program does not have.
"""


def judge_fault(fault: Fault, trace: Trace, truths: Sequence[Truth]) -> bool:
    """Return True if the fault that attribution found names the right call and path.

    `truths` are the true locations of the injected fault; one of them must match.
    """
    blamed = next((call for call in trace.calls if call.index == fault.call), None)
    return any(
        truth.is_met_by(blamed) and is_same_place(fault.path, truth.path)
        for truth in truths
        if blamed is not None
    )


def judge_finding(fault: Fault, truths: Sequence[Truth], lines: range) -> bool:
    """Return True if a fault that the static check found names the right tool, path and line.

    A line is right if it is one of `lines` (the faulty statement) or a line of the true call.
    """
    line = fault.line or 0
    named = [truth for truth in truths if fault.tool == truth.tool]
    near = line in lines or any(truth.first_line <= line <= truth.last_line for truth in named)
    return near and any(is_same_place(fault.path, truth.path) for truth in named)


def is_same_place(blamed: str | None, true: str) -> bool:
    """Return True if two paths in responses are equal apart from list indices."""
    return re.sub(r"\[-?\d*\]", "[]", blamed or "") == re.sub(r"\[-?\d*\]", "[]", true)


@dataclass(frozen=True)
class BlameBench:
    """Runs tasks with injected faults in one `World` and yields a result for each fault."""

    world: World
    sandbox: Sandbox
    impatient: Toolbox

    def rows(self, task: Task, *, seed: int) -> Iterator[Row]:
        """Yield the results of one task, at most one for each kind of fault.

        There are no results if the gold program cannot be run in the way that traces its values.
        """
        tools = self.world.toolbox
        self.world.reset()
        try:
            gold = observe(task, tools)
        except NoObservation:
            return
        usual = self._doubts(task, task.program, self._run(task.program))
        for mutant in pick(mutants(gold, seed=seed), seed=seed):
            about = {"id": mutant.id, "kind": mutant.kind}
            findings = tuple(one for one in check(Program(mutant.program), tools) if one.certain)
            fault = attribute(Program(mutant.program), findings, None, tools) if findings else None
            if fault is not None:
                yield about | {"right": judge_finding(fault, mutant.truths, _statement(mutant))}
                continue
            yield about | self._row(
                task, mutant.program, self._run(mutant.program), mutant.truths, usual
            )
        for broken in draw_broken(gold, seed=seed):
            breaking = BreakingTools(broken, gold, self.world, self.impatient)
            self.world.reset()
            effects = WriteRecovery(tools=tools, settle_seconds=0.0, wait=lambda _: None)
            journal = Journal(pins=Pins(seed=0, clock=CLOCK), write_recovery=effects)
            trace = self.sandbox.run(task.program, breaking.toolbox, limits=LIMITS, journal=journal)
            about = {"id": f"{task.id}/{broken.kind}/{broken.call}", "kind": broken.kind}
            yield about | self._row(task, task.program, trace, breaking.truths(trace), usual)

    def _run(self, program: str) -> Trace:
        self.world.reset()
        return run_program(program, self.world.toolbox, self.sandbox)

    def _row(
        self, task: Task, program: str, trace: Trace, truths: Sequence[Truth], usual: Sequence[str]
    ) -> Row:
        fault = attribute(Program(program), (), trace, self.world.toolbox)
        verdict = grade(trace.stdout.strip() or None, task, state=self.world.snapshot())
        return {
            "right": judge_fault(fault, trace, truths) if fault is not None else None,
            "doubts": [doubt for doubt in self._doubts(task, program, trace) if doubt not in usual],
            "correct": trace.failure is None and verdict.correct,
        }

    def _doubts(self, task: Task, program: str, trace: Trace) -> tuple[str, ...]:
        answer = trace.stdout.strip()
        if trace.failure is not None or not answer:
            return ()
        return doubts(task.question, Program(program), trace, answer, self.world.toolbox)


def measure(tasks: Sequence[Task], *, seed: int = 0) -> Iterator[Row]:
    """Yield the result of each injected fault, at most one of each kind for each task."""
    settings = InvokeSettings(timeout_seconds=LATENCY_MS / 4000, sleep=lambda _: None)
    with ExitStack() as stack:
        world = stack.enter_context(World(services_of(tasks)))
        invoker = stack.enter_context(Invoker(settings))
        sources = [f"{name}={served.document_url}" for name, served in world.services.items()]
        sandbox = stack.enter_context(closing(open_sandbox()))
        bench = BlameBench(world, sandbox, load_tools(*sources, invoker=invoker))
        for task in track_progress("blaming", tasks, total=len(tasks)):
            yield from bench.rows(task, seed=seed)


def _statement(mutant: Mutant) -> range:
    """Return the range of lines of the innermost statement that a mutant's edit changes."""
    nodes = [node for node in ast.walk(parse_python(mutant.program)) if isinstance(node, ast.stmt)]
    spans = [range(node.lineno, (node.end_lineno or node.lineno) + 1) for node in nodes]
    return max(
        (span for span in spans if mutant.line in span), key=lambda span: (span.start, -span.stop)
    )


def figures(rows: Sequence[Row]) -> dict[str, Any]:
    shown = [row["right"] for row in rows if row["right"] is not None]
    silent = [row for row in rows if row["right"] is None]
    untold = [row["correct"] for row in silent if not row["doubts"]]
    return {
        "faults": len(rows),
        "none": sum(untold),
        "wrong": len(untold) - sum(untold),
        "doubted": len(silent) - len(untold),
        "shown": len(shown),
        "right": sum(shown),
        "share": share_with_interval(sum(shown), len(shown)),
    }


@suite
@click.option(
    "--sample",
    type=click.IntRange(1),
    default=120,
    show_default=True,
    help="Tasks, drawn by --seed.",
)
@click.option("--seed", default=0, show_default=True, help="What tasks and faults are drawn by.")
def main(sample: int, seed: int) -> dict[str, Any]:
    tasks = choose_tasks(sample=sample, seed=seed)
    rows = list(measure(tasks, seed=seed))
    own = {}
    for kind in KINDS:
        if of_kind := [row for row in rows if row["kind"] == kind]:
            own[kind] = figures(of_kind)
    missed = [row["id"] for row in rows if row["right"] is False]
    about = {"suite": "blame", "seed": seed, "tasks": len(tasks)}
    return about | {"kinds": {**own, "all": figures(rows)}, "missed": missed}


if __name__ == "__main__":
    main()
