"""Kill host processes during writing runs, resume the runs, and judge them by the services' logs.

A host process runs an agent. With `--store postgresql`, two gateways host the runs in turns, most
of them with a clock that is an hour wrong. In a third of these runs, the first host is suspended
instead of killed: it stops for longer than its lease, and continues after the other host has taken
over the run. The exit status is 1 if a write was repeated or lost, or if a run guessed an outcome,
paused without need, or ended differently from an undisturbed run.
"""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import click

from benchmarks.kills.cases import (
    BETWEEN,
    Gate,
    KillCase,
    KillRecord,
    RunRemains,
    Trap,
    draw_cases,
    judge_run,
    write_kind,
)
from benchmarks.kills.forker import SILENCE_SECONDS, HostForker, HostLost
from benchmarks.postgres import Server, server
from benchmarks.runner import suite, track_progress
from sandbox.base import Sandbox
from sandbox.choose import open_sandbox
from toolflow_bench.checks.gold import run_gold
from toolflow_bench.services.faults import Faults
from toolflow_bench.services.rest import Routes
from toolflow_bench.services.service import NAMES, find_service
from toolflow_bench.task import Task, load_tasks
from toolflow_bench.world import World

RATES = {
    "rate_429": 0.02,
    "rate_500": 0.01,
    "rate_drop": 0.01,
    "rate_drop_after": 0.02,
    "rate_truncated": 0.01,
}
"""Fault rates of all requests, reads included. These faults occur in addition to the kills."""
MOST_HOSTS = 6
"""Maximum number of host processes for one run.

At most two are killed, so a run that needs more than three has an error.
"""
CUT = 1 / 3
"""Share of the runs in PostgreSQL whose first host is suspended instead of killed."""


COUNTS = (
    "runs",
    "killed",
    "between",
    "repeated",
    "lost",
    "cut",
    "twice",
    "paused",
    "solved",
    "wrong",
)


Played = dict[str, Any]
"""The result of one run, as `WorkerPlace.play` returns it."""


@dataclass
class _HostedRun:
    """The messages that the hosts (processes) of one run sent, and the kills that happened.

    `last` has the messages of the last host. `woken` has those of a suspended host that continued,
    or is None if no host was suspended.
    """

    last: dict[str, Any] = field(default_factory=dict)
    struck: list[KillRecord] = field(default_factory=list)
    woken: dict[str, Any] | None = None

    @property
    def went_on(self) -> bool:
        """True if a suspended host continued the run although another host had taken it over."""
        if self.woken is None:
            return False
        return "was taken over by process" not in self.woken.get("crashed", "")


class WorkerPlace(ExitStack):
    """The services and host processes of one worker, which plays one run after another.

    The services survive the kills of hosts; a `Gate` before each service triggers the planned
    kills. If there is a PostgreSQL `server`, the hosts are gateways that share a database of it,
    else agents with an SQLite file. A host waits `settle_seconds` for a write to become visible. If
    this is less than `late_seconds`, writes are repeated.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        backend: str,
        settle_seconds: float = 3.0,
        late_seconds: float = 1.5,
        server: Any = None,
    ) -> None:
        super().__init__()
        self._sandbox = sandbox
        self._trap = Trap()
        self._gold = dict[str, RunRemains]()
        self._world = self.enter_context(World())
        sources = [f"{name}={served.document_url}" for name, served in self._world.services.items()]
        self._database = server.database() if server else None
        self._forkers = [self.enter_context(HostForker(sources)) for _ in range(2 if server else 1)]
        self._order: dict[str, Any] = {
            "sandbox": backend,
            "settle_seconds": settle_seconds,
            "gateway": bool(server),
        }
        self._kinds = dict[str, str]()
        for name, served in self._world.services.items():
            operations = find_service(name).operations
            self._kinds |= {one.id: write_kind(one) for one in operations if one.writes}
            # The services run already, but their middleware can still be replaced.
            app = served.app.middleware_stack
            routes = Routes(operations)
            served.app.middleware_stack = Gate(app, routes, self._trap, late_seconds=late_seconds)

    def play(self, case: KillCase) -> Played:
        """Run a case: kill its hosts, resume the run until it has ended, and judge it.

        In the result, `kind` is the kind of the first write that a kill interrupted, else of the
        write that the case aimed at. `detail` is the last message of the host.

        Raises:
            HostLost: a host hangs, or requests stay open.
        """
        gold = self._undisturbed_remains(case.task)
        self._clear(Faults(seed=case.seed, retry_after_seconds=0, **RATES))
        with tempfile.TemporaryDirectory(prefix="atc-kills-") as folder:
            hosted = self._run_hosts(
                case, store=self._database or str(Path(folder) / "runs.sqlite")
            )
        if not self._trap.wait_until_idle(SILENCE_SECONDS / 2):
            raise HostLost("requests are still open, although their host has ended.")
        crashed = hosted.last.get("crashed")
        unfinished = {"status": "killed" if crashed is None else "crashed", "answer": None}
        ended = hosted.last.get("ended", unfinished)
        left = RunRemains(
            log=self._log(),
            state=self._world.snapshot(),
            status=ended["status"],
            answer=ended["answer"],
        )
        verdict = judge_run(left, gold, hosted.struck, self._kinds)
        if hosted.went_on and verdict["wrong"] is None:
            verdict["wrong"] = (
                "a host that was cut off went on with a run that another one had taken"
            )
        hit = [self._kinds[one.operation] for one in hosted.struck if one.writes]
        return {
            "number": case.number,
            "task": case.task.id,
            "group": case.group,
            "kind": (hit or [case.kind])[0],
            "struck": [one._asdict() for one in hosted.struck],
            "status": left.status,
            "verdict": verdict,
            "cut": hosted.woken is not None,
            "twice": int(hosted.went_on),
            "detail": crashed or ended.get("detail", ""),
        }

    def _run_hosts(self, case: KillCase, *, store: str) -> _HostedRun:
        """Start one host process after another for a case until its run has ended."""
        if self._database:
            Server.clear(self._database)
        hosted = _HostedRun()
        asleep: HostForker | None = None
        for number in range(MOST_HOSTS):
            kill = case.kills[number] if number < len(case.kills) else None
            forker = self._forkers[number % len(self._forkers)]
            order = self._order_of(case, number) | {"store": store}
            wake = asleep.wake if asleep else int
            hosted.last = forker.host(order, kill, self._trap, taken=wake)
            struck = hosted.last.get("struck") or self._trap.struck
            hosted.struck += [struck] if struck is not None else []
            if asleep is not None:
                hosted.woken = asleep.rest()
                asleep = None
            if "ended" in hosted.last or "crashed" in hosted.last:
                break
            if order["cut"] and "over" not in hosted.last:
                asleep = forker
        return hosted

    def _order_of(self, case: KillCase, number: int) -> dict[str, Any]:
        """Return the instructions for host number `number` of a case.

        `skew` is the error of its clock in seconds. `cut` is True if the host is suspended instead
        of killed.
        """
        cut = False
        skew = 0.0
        if self._database is not None:
            cut = number == 0 and random.Random(f"cut {case.seed}").random() < CUT
            skew = random.Random(f"{case.seed} {number}").choice((-3600.0, 0.0, 3600.0))
        return {
            **self._order,
            "task": case.task.question,
            "program": case.task.program,
            "candidates": case.task.candidates,
            "skew": skew,
            "cut": cut,
        }

    def _undisturbed_remains(self, task: Task) -> RunRemains:
        """Return what the task's gold program leaves behind if there are no kills and faults.

        These are the logs and the state of the services, and the answer.
        """
        if task.id not in self._gold:
            self._clear(None)
            run = run_gold(task.program, self._world, self._sandbox)
            if run.problem is not None:
                raise HostLost(f"the gold program of {task.id!r} is none: {run.problem}")
            self._gold[task.id] = RunRemains(
                log=self._log(), state=run.state, status="solved", answer=run.answer
            )
        return self._gold[task.id]

    def _clear(self, faults: Faults | None) -> None:
        for served in self._world.services.values():
            served.app.state.control.reset()
            served.app.state.control.set_faults(faults)

    def _log(self) -> dict[str, Any]:
        log = {}
        for name, served in self._world.services.items():
            requests = served.app.state.control.requests
            log[name] = tuple(one for one in requests if one.operation)
        return log


def measure(
    *, runs: int, seed: int, jobs: int = 2, backend: str = "auto", store: str = "sqlite"
) -> Iterator[Played]:
    """Yield the result of each run. `jobs` workers, each with its own services, work at once."""
    operations = {one.id: one for name in NAMES for one in find_service(name).operations}
    cases = draw_cases(
        [task for task in load_tasks() if task.writes], operations, runs=runs, seed=seed
    )
    free: SimpleQueue[WorkerPlace] = SimpleQueue()
    with ExitStack() as stack:
        sandbox = stack.enter_context(closing(open_sandbox(backend)))
        database = stack.enter_context(server()) if store == "postgresql" else None
        for _ in range(min(jobs, runs)):
            free.put(stack.enter_context(WorkerPlace(sandbox, backend, server=database)))
        pool = stack.enter_context(ThreadPoolExecutor(jobs))

        def play(case: KillCase) -> Played:
            stage = free.get()
            try:
                return stage.play(case)
            finally:
                free.put(stage)

        yield from track_progress("killing", pool.map(play, cases), total=runs)


def tally(played: Sequence[Played]) -> dict[str, int]:
    """Return counts of the outcomes of these runs.

    `between` counts the runs that were killed between the stored intent and the stored outcome of a
    write.
    """
    counts = Counter[str](dict.fromkeys(COUNTS, 0))
    for one in played:
        verdict = one["verdict"]
        struck = one["struck"]
        between = any(kill["moment"] in BETWEEN and kill["writes"] for kill in struck)
        counts.update(
            runs=1,
            killed=bool(struck),
            between=between,
            repeated=verdict["repeated"],
            lost=verdict["lost"],
        )
        counts.update(cut=one["cut"], twice=one["twice"], wrong=verdict["wrong"] is not None)
        counts.update(paused=one["status"] == "paused", solved=one["status"] == "solved")
    return dict(counts)


def tallies(played: Sequence[Played], key: str) -> dict[str, dict[str, int]]:
    groups: dict[str, list[Played]] = {}
    for one in played:
        groups.setdefault(one[key], []).append(one)
    return {value: tally(some) for value, some in groups.items()}


@suite
@click.option(
    "--runs", type=click.IntRange(1), default=200, show_default=True, help="Runs to be killed."
)
@click.option("--seed", default=0, show_default=True, help="What tasks and kills are drawn by.")
@click.option(
    "--jobs", type=click.IntRange(1, 16), default=2, show_default=True, help="Runs played at once."
)
@click.option("--sandbox", default="auto", show_default=True, help="What runs the programs.")
@click.option(
    "--store", type=click.Choice(["sqlite", "postgresql"]), default="sqlite", show_default=True
)
def main(runs: int, seed: int, jobs: int, sandbox: str, store: str) -> dict[str, Any]:
    played = list(measure(runs=runs, seed=seed, jobs=jobs, backend=sandbox, store=store))
    total = tally(played)
    passed = (
        total["wrong"] == 0 and 2 * total["between"] >= total["runs"]
    )  # at least half of the kills were between intent and outcome
    report = {
        "suite": "kills",
        "passed": passed,
        "seed": seed,
        "sandbox": sandbox,
        "store": store,
        "total": total,
    }
    return report | {
        "by_moment": tallies(played, "group"),
        "by_kind": tallies(played, "kind"),
        "runs": played,
    }


if __name__ == "__main__":
    main()
