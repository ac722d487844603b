"""The kill test as a whole: cases over all writing tasks, played by workers, and what they show together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass
from queue import SimpleQueue
from typing import Any

from sandbox.choose import open_sandbox
from toolflow_bench.kills.cases import Case, draw_cases
from toolflow_bench.kills.stage import Played, Stage
from toolflow_bench.services.service import NAMES, find_service
from toolflow_bench.task import load_tasks

OnRun = Callable[[Played, int, int], None]
"""Told of each run that is over, with how many of how many are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Counts over some runs. `between` are runs killed between the intent and the stored outcome of a write."""

    runs: int
    killed: int
    between: int
    repeated: int
    lost: int
    paused: int
    solved: int
    wrong: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """All runs, in order of their numbers."""

    seed: int
    backend: str
    played: tuple[Played, ...]

    @property
    def total(self) -> Tally:
        """Over all of them."""
        return tally(self.played)

    @property
    def passed(self) -> bool:
        """Whether no law is broken, and at least half of the runs were killed where it matters."""
        return self.total.wrong == 0 and 2 * self.total.between >= self.total.runs

    def by(self, name: str) -> dict[str, Tally]:
        """By an attribute of the runs, in order of first appearance."""
        groups: dict[str, list[Played]] = {}
        for one in self.played:
            groups.setdefault(getattr(one, name), []).append(one)
        return {group: tally(played) for group, played in groups.items()}

    def as_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return {
            "passed": self.passed,
            "seed": self.seed,
            "sandbox": self.backend,
            "total": asdict(self.total),
            "by_moment": {name: asdict(one) for name, one in self.by("group").items()},
            "by_kind": {name: asdict(one) for name, one in self.by("kind").items()},
            "runs": [asdict(one) | {"struck": [kill._asdict() for kill in one.struck]} for one in self.played],
        }


def tally(played: Sequence[Played]) -> Tally:
    """The counts of these runs."""
    return Tally(
        runs=len(played),
        killed=sum(bool(one.struck) for one in played),
        between=sum(one.between > 0 for one in played),
        repeated=sum(one.verdict.repeated for one in played),
        lost=sum(one.verdict.lost for one in played),
        paused=sum(one.status == "paused" for one in played),
        solved=sum(one.status == "solved" for one in played),
        wrong=sum(one.verdict.wrong is not None for one in played),
    )


def measure(
    *, runs: int = 200, seed: int = 0, jobs: int = 2, backend: str = "auto", on_run: OnRun | None = None
) -> Measured:
    """Play so many runs, `jobs` at a time, each worker with services of its own.

    Raises:
        SourceUnavailable: the services' data or packages are missing.
        SandboxUnavailable: the sandbox cannot be had here.
        HostLost: a host hangs, or cannot be started.
    """
    operations = {one.id: one for name in NAMES for one in find_service(name).operations}
    cases = draw_cases([task for task in load_tasks() if task.writes], operations, runs=runs, seed=seed)
    played = []
    with _stages(backend, min(jobs, runs)) as play, ThreadPoolExecutor(jobs) as pool:
        try:
            for one in pool.map(play, cases):
                played.append(one)
                if on_run is not None:
                    on_run(one, len(played), runs)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return Measured(seed=seed, backend=backend, played=tuple(played))


@contextmanager
def _stages(backend: str, count: int) -> Iterator[Callable[[Case], Played]]:
    """What plays a case on a stage that is free."""
    free: SimpleQueue[Stage] = SimpleQueue()
    with ExitStack() as stack:
        sandbox = stack.enter_context(closing(open_sandbox(backend)))
        for _ in range(count):
            free.put(stack.enter_context(Stage(sandbox, backend=backend)))

        def play(case: Case) -> Played:
            stage = free.get()
            try:
                return stage.play(case)
            finally:
                free.put(stage)

        yield play
