"""The gateways side by side over the same services: right answers, faults, repairs, lost answers, latency, tokens."""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path
from typing import Any

import anyio

from benchmarks.blame.gold import NoObservation, observe
from benchmarks.blame.mutants import Mutant, mutants
from benchmarks.gateway.gateways import Gateway, Reply
from benchmarks.gateway.services import Calls, Services, counted, generated, repeated
from benchmarks.gateway.translate import Untranslatable
from protocols.render import token_estimate
from toolflow_bench.grade import grade
from toolflow_bench.suites.toolflow import choose_tasks, draw
from toolflow_bench.task import Task

Open = Callable[[Mapping[str, str]], AbstractAsyncContextManager[Gateway]]
"""Opens a gateway over OpenAPI documents by name."""
Row = dict[str, Any]
FAULTS = (
    ("wrong_key", "absent"),
    ("wrong_name", "argument"),
    ("wrong_name", "tool"),
    ("wrong_enum", "outside"),
    ("wrong_type", "text"),
    ("off_by_one_page", "start beyond"),
)
"""Of `benchmarks.blame.mutants`: kinds and variants that models make."""
SECONDS = 120.0
"""The most that one program may take."""
_DISCOVERIES = 20
"""Tasks of which the tokens of discovery are counted."""


async def compare(opens: Sequence[Open], *, tasks: int, seed: int, counts: Sequence[int]) -> list[Row]:
    """Rows of every program, and of what is read at connection with so many tools."""
    every = choose_tasks()
    gold = draw(every, min(tasks, len(every)), seed=seed)
    writing = [task for task in every if task.writes]
    losing = draw(writing, min(max(tasks // 4, 1), len(writing)), seed=seed)
    with Services() as services, tempfile.TemporaryDirectory() as folder:
        faulty = faulty_programs(every, services, count=tasks, seed=seed)
        async with AsyncExitStack() as stack:
            opened = [await stack.enter_async_context(one(services.documents)) for one in opens]
            measured = [_Measured(gateway, services) for gateway in opened]
            known = {task.id for task in gold}
            others = {task.id: task for task in [*(one.task for one in faulty), *losing] if task.id not in known}
            rows = await _programs(measured, gold, faulty, others)
            for gateway in opened:
                descriptions = await gateway.descriptions()
                rows.append(_row(gateway, "descriptions", len(services.toolbox), descriptions))
                for task in gold[:_DISCOVERIES]:
                    found = await gateway.discovery(task.question, list(dict.fromkeys(task.operations)), descriptions)
                    rows.append(_row(gateway, "first program", len(services.toolbox), descriptions + found))
        print(f"now {len(losing)} programs whose answer is lost, each in a gateway of its own", file=sys.stderr)
        for task in losing:
            for open_gateway, one in zip(opens, measured, strict=True):
                for way in one.ways:
                    async with open_gateway(services.documents) as gateway:
                        rows.append(await _Measured(gateway, services, one.needed).lost(task, way))
        for count in counts:
            for open_gateway in opens:
                with anyio.fail_after(600):
                    async with open_gateway({"generated": generated(Path(folder), count)}) as gateway:
                        descriptions = await gateway.descriptions()
                        found = await gateway.discovery("the state of an invoice", ["get_invoice_0"], descriptions)
                        if "invoice_id" in descriptions + found:  # else it has not got its tools
                            rows.append(_row(gateway, "descriptions", count, descriptions))
                            rows.append(_row(gateway, "first program", count, descriptions + found))
    return rows


def faulty_programs(tasks: Sequence[Task], services: Services, *, count: int, seed: int) -> list[Mutant]:
    """The kinds of fault in turn, each in the next of the tasks, in an order drawn by seed, that it can be put into."""
    order = random.Random(f"{seed} faults").sample(tasks, len(tasks))
    found: list[Mutant] = []
    for task in order:
        services.reset()
        try:
            gold = observe(task, services.toolbox)
        except NoObservation:
            continue
        kind, variants = FAULTS[len(found) % len(FAULTS)]
        own = [one for one in mutants(gold, seed=seed, kinds=[kind]) if one.variant in variants.split()]
        found += own and [random.Random(f"{seed} {task.id}").choice(own)]
        if len(found) == count:
            break
    return found


async def _programs(
    measured: Sequence[_Measured], gold: Sequence[Task], faulty: Sequence[Mutant], others: Mapping[str, Task]
) -> list[Row]:
    """A row for each program and gateway, which take turns: a busy machine is busy for all of them."""
    for one in measured:
        await one.warm_up()
    rows = [await one.gold(task, "gold") for task in gold for one in measured]
    print(f"{len(gold)} gold programs done, {len(others)} more to come, then the faulty ones", file=sys.stderr)
    rows += [await one.gold(task, "other") for task in others.values() for one in measured]
    print(f"now {len(faulty)} faulty programs", file=sys.stderr)
    return rows + [await one.faulty(fault) for fault in faulty for one in measured]


def _row(gateway: Gateway, part: str, tools: int, text: str) -> Row:
    return {"gateway": gateway.name, "part": part, "tools": tools, "tokens": token_estimate(text)}


class _Measured:
    """One gateway's programs, each from a fresh state."""

    def __init__(
        self, gateway: Gateway, services: Services, needed: dict[str, tuple[Calls, Calls]] | None = None
    ) -> None:
        self._gateway, self._services = gateway, services
        self.needed = needed if needed is not None else {}
        """All calls of each task's gold program, and the writes among them."""

    @property
    def ways(self) -> tuple[str, ...]:
        """How a program can be sent again."""
        return ("sent again", "continued") if self._gateway.prefix is None else ("sent again",)

    async def warm_up(self) -> None:
        """Run a program that calls nothing: what starts with the first program is not in any latency."""
        await self._gateway.run(self._gateway.program("print(1)", self._services.toolbox))

    async def gold(self, task: Task, part: str) -> Row:
        """A gold program; what it calls is remembered."""
        self._services.reset()
        row, _ = await self._run(task, task.program)
        requests = self._services.requests
        self.needed[task.id] = counted(requests), counted(one for one in requests if one.wrote)
        return row | {"part": part, "calls": len(requests)}

    async def faulty(self, faulty: Mutant) -> Row:
        """A faulty program, and the gold program as its repair, which is sent in any case."""
        task = faulty.task
        self._services.reset()
        row, reply = await self._run(task, faulty.program, unknown=faulty.after if faulty.variant == "tool" else "")
        first = counted(self._services.requests)
        repair, _ = await self._run(task, task.program, continues=reply.run)
        both = counted(self._services.requests)
        wrote = counted(one for one in self._services.requests if one.wrote)
        calls, writes = self.needed[task.id]
        return row | {
            "part": "faulty",
            "kind": f"{faulty.kind} {faulty.variant}",
            "fault": f"{faulty.before} → {faulty.after}",
            "calls": first.total(),
            "before_call": not reply.ok and not first,
            "passed_wrong": reply.ok and not row["right"],
            "repeated": repeated(first, both - first, calls),
            "repeated_writes": (wrote - writes).total(),
            "repaired": repair["right"],
            "repair_said": repair["said"],
        }

    async def lost(self, task: Task, way: str) -> Row:
        """The program, of whose first write no answer comes, and, where it failed, the same program once more."""
        self._services.reset()
        self._services.lose_answer()
        first, reply = await self._run(task, task.program)
        lost = any(one.wrote for one in self._services.requests)
        row = first
        if not reply.ok:
            row, _ = await self._run(task, task.program, continues=reply.run if way == "continued" else None)
        wrote = counted(one for one in self._services.requests if one.wrote)
        extra = (wrote - self.needed[task.id][1]).total()
        first_said = {"first_said": first["said"], "first_ok": first["ok"]}
        return row | {"part": "lost", "way": way, "lost": lost, "repeated_writes": extra, **first_said}

    async def _run(
        self, task: Task, source: str, *, continues: str | None = None, unknown: str = ""
    ) -> tuple[Row, Reply]:
        tools, asked = self._services.toolbox, len(self._gateway.asked)
        began = time.perf_counter()
        try:
            program = self._gateway.program(source, tools, also=unknown)
            began = time.perf_counter()
            with anyio.fail_after(SECONDS):
                reply = await self._gateway.run(program, continues)
        except Untranslatable as error:
            reply = Reply(False, None, "", f"not translated: {error}")
        except TimeoutError:
            reply = Reply(False, None, "", f"no reply within {SECONDS:g} s")
        seconds = time.perf_counter() - began
        verdict = grade(reply.answer, task, state=self._services.snapshot())
        row = {
            "gateway": self._gateway.name,
            "task": task.id,
            "ok": reply.ok,
            "right": reply.ok and verdict.correct,
            "reason": verdict.reason,
            "seconds": round(seconds, 5),
            "asked": len(self._gateway.asked) - asked,
            "problem": reply.problem[:300],
            "said": reply.said[:2000],
        }
        return row, reply


def table(rows: Sequence[Row]) -> list[str]:
    """The figures, a gateway a column."""
    names = list(dict.fromkeys(row["gateway"] for row in rows))
    lines = [("", *names)]

    def add(label: str, figure: Callable[[list[Row]], str], **wanted: Any) -> None:
        chosen = {name: [r for r in rows if r["gateway"] == name and wanted.items() <= r.items()] for name in names}
        if any(chosen.values()):
            lines.append((label, *(figure(chosen[name]) if chosen[name] else "-" for name in names)))

    add("gold programs: answers right", _share("right"), part="gold")
    add("gold programs: p50, ms", _latency(50), part="gold")
    add("gold programs: p90, ms", _latency(90), part="gold")
    add("gold programs: the person was asked", _total("asked"), part="gold")
    add("faulty programs: found before any call", _share("before_call"), part="faulty")
    for kind in dict.fromkeys(row["kind"] for row in rows if row["part"] == "faulty"):
        add(f"  {kind}", _share("before_call"), part="faulty", kind=kind)
    add("faulty programs: answered right all the same", _share("right"), part="faulty")
    add("faulty programs: wrong answer, no fault told", _share("passed_wrong"), part="faulty")
    add("faulty programs: calls made", _total("calls"), part="faulty")
    add("after the repair: answers right", _share("repaired"), part="faulty")
    add("after the repair: calls repeated", _total("repeated"), part="faulty")
    add("after the repair: writes repeated", _total("repeated_writes"), part="faulty")
    for way in ("sent again", "continued"):
        add(f"lost answer, {way}: programs that wrote twice", _share("repeated_writes"), part="lost", way=way)
        add(f"lost answer, {way}: answers right", _share("right"), part="lost", way=way)
    for tools in dict.fromkeys(row["tools"] for row in rows if "tools" in row):
        add(f"tokens at connection, {tools:,} tools", _median("tokens"), part="descriptions", tools=tools)
        add(f"tokens to the first program, {tools:,} tools", _median("tokens"), part="first program", tools=tools)
    widths = [max(len(line[column]) for line in lines) for column in range(len(names) + 1)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]


def failures(rows: Sequence[Row]) -> list[str]:
    """Why gold programs had no right answer, by gateway."""
    failed = [row for row in rows if row["part"] in ("gold", "other") and not row["right"]]
    reasons = Counter((row["gateway"], row["problem"].split("\n")[0][:120] or row["reason"]) for row in failed)
    return [f"{count} x {gateway}: {reason}" for (gateway, reason), count in sorted(reasons.items())]


def _share(key: str) -> Callable[[list[Row]], str]:
    return lambda rows: f"{sum(bool(row[key]) for row in rows)} of {len(rows)}"


def _total(key: str) -> Callable[[list[Row]], str]:
    return lambda rows: str(sum(row[key] for row in rows))


def _median(key: str) -> Callable[[list[Row]], str]:
    return lambda rows: f"{statistics.median(row[key] for row in rows):.0f}"


def _latency(percent: int) -> Callable[[list[Row]], str]:
    return lambda rows: f"{1000 * percentile([row['seconds'] for row in rows], percent):.1f}"


def percentile(values: Iterable[float], percent: float) -> float:
    """The smallest value that so many percent do not exceed."""
    ordered = sorted(values)
    if not ordered:
        return float("nan")
    return ordered[min(len(ordered) - 1, max(0, -(-len(ordered) * int(percent * 10) // 1000) - 1))]
