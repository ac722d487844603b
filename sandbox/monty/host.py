"""The sandbox: hands programs to a pool of interpreters, and replaces what dies."""

from __future__ import annotations

import importlib.util
import threading
import weakref
from collections.abc import Collection, Mapping
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Self

from protocols.toolbox import Toolbox
from sandbox import workers
from sandbox.calls import Calls
from sandbox.clock import Clock
from sandbox.errors import SandboxUnavailable
from sandbox.journal import Journal
from sandbox.layers.names import LAYERS, REQUIRED, SWITCHED_OFF
from sandbox.limits import Limits
from sandbox.monty.adapt import Program, adapt
from sandbox.monty.pool import Pool, Terms, Worker
from sandbox.monty.script import CONFINES, find_binary
from sandbox.monty.subset import Unsupported
from sandbox.trace import Failure, Trace

if TYPE_CHECKING:
    from sandbox.monty.session import Run

LANGUAGE = "an interpreter without files, network, processes or foreign code"

CLOSING_SECONDS = 5.0

TRIES, STILLBORN_SECONDS = 3, 0.05


class MontySandbox:
    """Runs programs of a subset of Python in a pool of processes, started when first needed and reused for all runs.

    A program that needs more of Python than there is fails with a `policy` failure `Unsupported`; with `strict=False`
    `run` raises `Unsupported` for it instead, as long as it made no call, so that another sandbox can run it.
    `without` switches layers off, by their names in `sandbox.layers.names`. Runs may overlap, from any threads. Close
    it, or use it as a context manager.
    """

    name = "monty"

    def __init__(self, *, strict: bool = True, without: Collection[str] = ()) -> None:
        if unknown := set(without) - set(LAYERS):
            raise ValueError(f"no layer {min(unknown)!r}; there are {', '.join(LAYERS)}")
        self._strict, self._without = strict, frozenset(without)
        self._lock = threading.Lock()
        self._left = threading.Condition(self._lock)
        self._pool: Pool | None = None
        self._runs: set[Run] = set()
        self._closed = False
        self._holder: list[Pool] = []
        self._finalizer = weakref.finalize(self, _close_all, self._holder)

    @property
    def layers(self) -> tuple[str, ...]:
        """What stands between a program and this machine; known for sure once the pool runs."""
        system = _WORDS.items() if CONFINES else ()
        return (LANGUAGE, *(text for name, text in system if name not in self.missing))

    @property
    def missing(self) -> Mapping[str, str]:
        """The layers of the operating system that are not there, each with the reason."""
        if not CONFINES:
            return dict.fromkeys(LAYERS, "this system has none of them")
        return dict.fromkeys(self._without, SWITCHED_OFF) if self._pool is None else self._pool.missing

    @property
    def boundary(self) -> bool:
        """Whether the layers are meant to hold a hostile program: the operating system's, where they are."""
        return not REQUIRED & set(self.missing)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def warm(self) -> None:
        """Start the pool without waiting for it, so that the first run finds it ready.

        Raises:
            SandboxUnavailable: it cannot be had here.
        """
        reason = _CLOSED if self._closed else unavailable()
        if reason is not None:
            raise SandboxUnavailable(reason)
        workers.start(self._try_start)

    def spare_pids(self) -> list[int]:
        """The processes that wait for a program."""
        pool = self._pool
        return [] if pool is None else pool.spare_pids()

    def run(self, source: str, tools: Toolbox, *, limits: Limits, journal: Journal) -> Trace:
        """See `sandbox.base.Sandbox.run`.

        Raises:
            Unsupported: this is not `strict`, the program needs what monty has not, and it made no call.
        """
        program = adapt(source)
        for _ in range(TRIES):
            pool = self._current()
            pins = journal.open()
            worker = pool.take(Terms.of(limits, pins))
            try:
                trace = self._run(worker, program, tools, limits, journal)
            finally:
                pool.give_back(worker)
            if not _stillborn(trace):
                break
        return trace

    def close(self) -> None:
        """End every process. Runs that are under way end with `SandboxUnavailable`."""
        with self._left:
            self._closed = True
            self._pool = None
            for run in self._runs:
                run.end(SandboxUnavailable("the monty sandbox was closed while it ran the program"), kill=True)
            self._left.wait_for(lambda: not self._runs, CLOSING_SECONDS)
        self._finalizer()

    def _run(self, worker: Worker, program: Program, tools: Toolbox, limits: Limits, journal: Journal) -> Trace:
        from sandbox.monty.session import Run
        from sandbox.monty.verdict import Lacking, lack

        clock = Clock(limits.wall_seconds)
        calls = Calls(tools, limits=limits, journal=journal, clock=clock)
        names = {alias: tuple(tool.arguments) for alias, tool in tools.items()}
        run = Run(
            worker.session, program, names, calls, limits=limits, pins=journal.pins, clock=clock, kill=worker.kill
        )
        failure: Failure | None
        try:
            self._enter(run)
            try:
                failure = run.hold()
            except Lacking as lacking:
                if not self._strict:
                    raise Unsupported(lacking.what, lacking.line) from None
                failure = lacking.failure or lack(lacking.what, lacking.line)
            calls.hold_back()
            calls.settle()
        except BaseException:
            calls.close("the run was stopped before it answered")
            raise
        finally:
            with self._left:
                self._runs.discard(run)
                self._left.notify_all()
        calls.close(f"no answer within the run's {limits.wall_seconds:g} s")
        return Trace(
            calls=tuple(calls.made),
            stdout="".join(run.stdout),
            value=None if failure else run.value,
            failure=failure,
            seconds=clock.elapsed(),
            backend=self.name,
            pins=journal.pins,
        )

    def _enter(self, run: Run) -> None:
        with self._lock:
            if self._closed:
                raise SandboxUnavailable(_CLOSED)
            self._runs.add(run)

    def _try_start(self) -> None:
        with suppress(SandboxUnavailable):  # the first run tells
            self._current()

    def _current(self) -> Pool:
        with self._lock:
            if self._closed:
                raise SandboxUnavailable(_CLOSED)
            if self._pool is None:
                reason = unavailable()
                if reason is not None:
                    raise SandboxUnavailable(reason)
                self._pool = Pool(without=self._without)
                self._holder.append(self._pool)
            return self._pool


def _stillborn(trace: Trace) -> bool:
    """Whether the process may have died before it had the program, which it then had nothing to do with."""
    crashed = trace.failure is not None and trace.failure.type == "Crash"
    return crashed and not trace.calls and not trace.stdout and trace.seconds < STILLBORN_SECONDS


def unavailable() -> str | None:
    """Why this machine cannot run monty; `None` where it can."""
    if importlib.util.find_spec("pydantic_monty") is None:
        return "the monty sandbox needs pydantic-monty; pip install 'automatic-tool-chain[monty]'"
    try:
        find_binary()
    except (ImportError, OSError):
        return (
            "the monty sandbox needs the executable of pydantic-monty-runtime, which is not installed; "
            "pip install --force-reinstall pydantic-monty"
        )
    return None


_CLOSED = "the monty sandbox was closed; make a new one"

_WORDS = {
    **LAYERS,
    "namespaces": "empty namespaces (user, network, IPC, UTS)",
    "landlock": "Landlock: no files but the interpreter's own, no network",
    "seccomp": "seccomp: some forty system calls, none that writes to files, connects, starts or executes",
}


def _close_all(pools: list[Pool]) -> None:
    while pools:
        pools.pop().close()
