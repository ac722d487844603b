"""One worker's place: services that outlive their hosts, the nursery of hosts, and runs played to their end."""

from __future__ import annotations

import signal
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sandbox.base import Sandbox
from toolflow_bench.checks.gold import run_gold
from toolflow_bench.kills.cases import BETWEEN, Case, Class, Kill, WriteKind, kind_of
from toolflow_bench.kills.gate import Gate, Struck, Trap, Victim
from toolflow_bench.kills.judge import Left, Log, Verdict, judge
from toolflow_bench.kills.nursery import HostEnd, HostLost, Nursery
from toolflow_bench.services.control import reset, set_faults
from toolflow_bench.services.faults import Faults
from toolflow_bench.services.routes import Routes
from toolflow_bench.services.service import find_service
from toolflow_bench.task import Task
from toolflow_bench.world import World

SLOW_SECONDS = 0.02
"""A write waits so long before it is carried out, and again before it is answered."""

RATES = {"rate_429": 0.02, "rate_500": 0.01, "rate_drop": 0.01, "rate_drop_after": 0.02, "rate_truncated": 0.01}
"""Of requests, reads included, on top of the kills."""

MOST_HOSTS = 6
"""Processes of one run. Two are killed at most; more are only needed where something is wrong."""

LATE_SECONDS = 1.5
"""The longest that a service works on a write when its host was killed."""

SETTLE_SECONDS = 2 * LATE_SECONDS
"""How long hosts give a write to show up."""

OPEN_SECONDS = 60.0
"""The longest wait for requests that are still open when a run has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What became of one run. `kind` is that of the write that was interrupted first, else of the one aimed at."""

    number: int
    task: str
    group: Class
    kind: WriteKind
    struck: tuple[Struck, ...]
    faults: int
    """Faults that its requests met besides."""
    status: str
    verdict: Verdict
    detail: str
    """What the host said last; for a run that went wrong."""
    seconds: float

    @property
    def between(self) -> int:
        """Kills between the intent of a write and its stored outcome."""
        return sum(one.moment in BETWEEN and one.writes for one in self.struck)


class Stage:
    """Four services with gates before them, and a nursery. A context manager, for one thread.

    `sandbox` runs the undisturbed programs, hosts open the one named `backend`. `settle_seconds` is how long a host
    gives a write to show up: with less than a service takes, writes are repeated.

    Raises:
        SourceUnavailable: the services' data or packages are missing.
        HostLost: the nursery does not start.
    """

    def __init__(self, sandbox: Sandbox, *, backend: str, settle_seconds: float = SETTLE_SECONDS) -> None:
        self._sandbox, self._settle = sandbox, settle_seconds
        self._trap = Trap()
        self._gold: dict[str, Left] = {}
        with ExitStack() as stack:
            self._world = stack.enter_context(World())
            self._folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="atc-kills-")))
            sources = [f"{name}={served.document_url}" for name, served in self._world.services.items()]
            self._nursery = stack.enter_context(Nursery(sources, backend=backend, folder=self._folder))
            self._stack = stack.pop_all()
        self._operations = {one.id: one for name in self._world.services for one in find_service(name).operations}
        for name, served in self._world.services.items():
            # The services run already; what a request meets first can still be changed.
            routes = Routes(find_service(name).operations)
            served.app.middleware_stack = Gate(
                served.app.middleware_stack,
                routes,
                self._trap,
                slow_seconds=SLOW_SECONDS,
                late_seconds=LATE_SECONDS,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def play(self, case: Case) -> Played:
        """Run a case: its host is killed, and the run resumed until it is over; then it is judged.

        Raises:
            HostLost: a host hangs, or requests stay open.
        """
        gold = self._undisturbed(case.task)
        began = time.monotonic()
        self._clear(Faults(seed=case.seed, retry_after_seconds=0, **RATES))
        with tempfile.TemporaryDirectory(dir=self._folder) as folder:
            struck, end = self._until_over(case, folder)
        seconds = time.monotonic() - began
        if not self._trap.settle(OPEN_SECONDS):
            raise HostLost("requests are still open, although their host has ended.")
        said = end.ended or {}
        status = said.get("status") or ("crashed" if end.crashed else "killed")
        left = Left(log=self._log(), state=self._world.snapshot(), status=status, answer=said.get("answer"))
        kinds = {name: kind_of(one) for name, one in self._operations.items() if one.writes}
        hit = [kinds[one.operation] for one in struck if one.writes]
        return Played(
            number=case.number,
            task=case.task.id,
            group=case.group,
            kind=hit[0] if hit else case.aim,
            struck=tuple(struck),
            faults=sum(one.fault != "" for records in left.log.values() for one in records),
            status=status,
            verdict=judge(left, gold, struck, kinds),
            detail=end.crashed or said.get("failure") or said.get("fault") or "",
            seconds=seconds,
        )

    def _until_over(self, case: Case, folder: str) -> tuple[list[Struck], HostEnd]:
        """The kills that came to pass, and the last host's end."""
        order = {
            "task": case.task.question,
            "program": case.task.program,
            "candidates": case.task.candidates,
            "folder": folder,
            "settle_seconds": self._settle,
        }
        struck: list[Struck] = []
        for number in range(MOST_HOSTS):
            kill = case.kills[number] if number < len(case.kills) else None
            end = self._host(order, kill)
            if end.exit != -signal.SIGKILL:
                break
            if (hit := end.struck or self._trap.struck) is not None:
                struck.append(hit)
        return struck, end

    def _host(self, order: dict[str, Any], kill: Kill | None) -> HostEnd:
        def born(victim: Victim) -> None:
            self._trap.arm(kill, victim)

        try:
            return self._nursery.host(order, kill=kill, on_birth=born)
        finally:
            self._trap.disarm()

    def _undisturbed(self, task: Task) -> Left:
        """What the task's program leaves where nothing goes wrong."""
        if task.id not in self._gold:
            self._clear(None)
            run = run_gold(task.program, self._world, self._sandbox)
            if run.problem is not None:
                raise HostLost(f"the gold program of {task.id!r} is none: {run.problem}")
            self._gold[task.id] = Left(log=self._log(), state=run.state, status="solved", answer=run.answer)
        return self._gold[task.id]

    def _clear(self, faults: Faults | None) -> None:
        """Services as they were at first, their logs empty, with these faults."""
        for served in self._world.services.values():
            reset(served.app, log=True)
            set_faults(served.app, faults)

    def _log(self) -> Log:
        return {
            name: tuple(record for record in served.app.state.control.requests if record.operation)
            for name, served in self._world.services.items()
        }
