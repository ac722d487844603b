"""The gateways side by side over the same services: right answers, faults, repairs, lost answers, latency, tokens."""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from benchmarks.blame.gold import NoObservation, observe
from benchmarks.blame.mutants import Mutant, mutants
from benchmarks.gateway.gateways import Gateway, Reply
from benchmarks.gateway.services import Calls, Services, generated, repeated
from benchmarks.gateway.translate import Untranslatable
from benchmarks.runner import percentile
from protocols.render import token_estimate
from toolflow_bench.grade import grade
from toolflow_bench.suites import choose_tasks, draw
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
    """Rows of every program, and of what is read at connection with so many tools.

    The gateways take turns with each program: a busy machine is busy for all of them.
    """
    every = choose_tasks()
    gold = draw(every, min(tasks, len(every)), seed=seed)
    writing = [task for task in every if task.writes]
    losing = draw(writing, min(max(tasks // 4, 1), len(writing)), seed=seed)
    rows: list[Row] = []
    with Services() as services, tempfile.TemporaryDirectory() as folder:
        faulty = faulty_programs(every, services, count=tasks, seed=seed)
        bench = _Bench(services)
        async with AsyncExitStack() as stack:
            opened = [await stack.enter_async_context(one(services.documents)) for one in opens]
            for gateway in opened:  # what starts with the first program is not in any latency
                await gateway.run(gateway.program("print(1)", services.toolbox))
            rows += [await bench.gold(gateway, task) for task in gold for gateway in opened]
            print(f"{len(gold)} gold programs done, {len(faulty)} faulty ones to come", file=sys.stderr)
            rows += [await bench.faulty(gateway, one) for one in faulty for gateway in opened]
            for gateway in opened:
                told = await gateway.descriptions()
                rows.append(_read(gateway, "descriptions", len(services.toolbox), told))
                for task in gold[:_DISCOVERIES]:
                    found = await gateway.discovery(task.question, list(dict.fromkeys(task.operations)), told)
                    rows.append(_read(gateway, "first program", len(services.toolbox), told + found))
        print(f"{len(losing)} programs whose answer is lost, each in a gateway of its own", file=sys.stderr)
        for task in losing:
            for open_gateway in opens:
                async with open_gateway(services.documents) as gateway:
                    rows.append(await bench.lost(gateway, task))
        for count in counts:
            for open_gateway in opens:
                with anyio.fail_after(600):
                    async with open_gateway({"generated": generated(Path(folder), count)}) as gateway:
                        told = await gateway.descriptions()
                        found = await gateway.discovery("the state of an invoice", ["get_invoice_0"], told)
                        if "invoice_id" in told + found:  # else it has not got its tools
                            rows.append(_read(gateway, "descriptions", count, told))
                            rows.append(_read(gateway, "first program", count, told + found))
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


def _read(gateway: Gateway, part: str, tools: int, text: str) -> Row:
    return {"gateway": gateway.name, "part": part, "tools": tools, "tokens": token_estimate(text)}


@dataclass
class _Bench:
    """Programs sent to gateways, each from a fresh state."""

    services: Services
    known: dict[tuple[str, str], tuple[Calls, Calls]] = field(default_factory=dict)

    async def needed(self, gateway: Gateway, task: Task) -> tuple[Calls, Calls]:
        """All calls of a task's gold program through a gateway, and the writes among them."""
        if (gateway.name, task.id) not in self.known:
            await self.gold(gateway, task)
        return self.known[gateway.name, task.id]

    async def gold(self, gateway: Gateway, task: Task) -> Row:
        """A gold program."""
        self.services.reset()
        row, _ = await self._run(gateway, task, task.program)
        self.known[gateway.name, task.id] = self.services.calls, self.services.writes
        return row | {"part": "gold", "calls": self.services.calls.total()}

    async def faulty(self, gateway: Gateway, faulty: Mutant) -> Row:
        """A faulty program, and the gold program as its repair, which is sent in any case."""
        task, services = faulty.task, self.services
        calls, writes = await self.needed(gateway, task)
        services.reset()
        unknown = faulty.after if faulty.variant == "tool" else ""
        row, reply = await self._run(gateway, task, faulty.program, unknown=unknown)
        first = services.calls
        repair, _ = await self._run(gateway, task, task.program, continues=reply.run)
        return row | {
            "part": "faulty",
            "fault": faulty.id,
            "calls": first.total(),
            "before_call": not reply.ok and not first,
            "passed_wrong": reply.ok and not row["right"],
            "repeated": repeated(first, services.calls - first, calls),
            "repeated_writes": (services.writes - writes).total(),
            "repaired": repair["right"],
        }

    async def lost(self, gateway: Gateway, task: Task) -> Row:
        """The program, of whose first write no answer comes, and, where it failed, the same program once more."""
        _, writes = await self.needed(gateway, task)
        self.services.reset()
        self.services.losing = True
        row, reply = await self._run(gateway, task, task.program)
        if not reply.ok:
            row, _ = await self._run(gateway, task, task.program)
        return row | {"part": "lost", "repeated_writes": (self.services.writes - writes).total()}

    async def _run(
        self, gateway: Gateway, task: Task, source: str, *, continues: str | None = None, unknown: str = ""
    ) -> tuple[Row, Reply]:
        began = time.perf_counter()
        try:
            program = gateway.program(source, self.services.toolbox, also=unknown)
            began = time.perf_counter()
            with anyio.fail_after(SECONDS):
                reply = await gateway.run(program, continues)
        except Untranslatable as error:
            reply = Reply(False, None, "", f"not translated: {error}")
        except TimeoutError:
            reply = Reply(False, None, "", f"no reply within {SECONDS:g} s")
        seconds = time.perf_counter() - began
        verdict = grade(reply.answer, task, state=self.services.snapshot())
        row = {"gateway": gateway.name, "task": task.id, "ok": reply.ok, "right": reply.ok and verdict.correct}
        return row | {"reason": verdict.reason, "seconds": round(seconds, 5), "problem": reply.problem[:300]}, reply


def figures(rows: Sequence[Row]) -> dict[str, dict[str, Any]]:
    """The figures by gateway."""
    names = dict.fromkeys(row["gateway"] for row in rows)
    return {name: _figures([row for row in rows if row["gateway"] == name]) for name in names}


def _figures(rows: Sequence[Row]) -> dict[str, Any]:
    gold, faulty, lost = ([row for row in rows if row["part"] == part] for part in ("gold", "faulty", "lost"))
    found: dict[str, Any] = {"gold programs": len(gold), "right": sum(row["right"] for row in gold)}
    found |= {f"p{n} ms": round(1000 * percentile([row["seconds"] for row in gold], n), 1) for n in (50, 90)}
    found |= {"faulty programs": len(faulty), "calls made": sum(row["calls"] for row in faulty)}
    told = {"before_call": "found before any call", "right": "right all the same", "passed_wrong": "wrong, untold"}
    told |= {"repaired": "repair right", "repeated": "calls repeated", "repeated_writes": "writes repeated"}
    found |= {name: sum(row[key] for row in faulty) for key, name in told.items()}
    found |= {"lost answers": len(lost), "wrote twice": sum(bool(row["repeated_writes"]) for row in lost)}
    found["right after a lost answer"] = sum(row["right"] for row in lost)
    for tools in dict.fromkeys(row["tools"] for row in rows if "tools" in row):
        for part in ("descriptions", "first program"):
            tokens = [row["tokens"] for row in rows if row["part"] == part and row["tools"] == tools]
            found[f"tokens of {part}, {tools:,} tools"] = statistics.median(tokens) if tokens else None
    return found
