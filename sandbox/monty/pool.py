"""The processes that interpret: one pool of them, on Linux each inside its layers."""

from __future__ import annotations

import os
import select
import signal
import threading
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from sandbox import workers
from sandbox.errors import SandboxUnavailable
from sandbox.layers.names import LAYERS
from sandbox.limits import Limits
from sandbox.monty import machine
from sandbox.monty.script import CONFINES, Script
from sandbox.monty.verdict import SUSPENSIONS
from sandbox.trace import Pins

if TYPE_CHECKING:
    import pydantic_monty

TURN_SECONDS = 3600.0
"""No turn of a program takes longer, whatever the limits of its run say."""

START_SECONDS = 30.0

MEMORY_BYTES = 2 * 2**30
"""A program gets no more, whatever the limits of its run say: its process has not much more than that."""

RECURSION = 1000

SPARES, MOST_IDLE = 2, 16
"""So many processes are started ahead of the runs that need them, and so many wait after runs that overlapped."""

MOST_PROCESSES = 1024
"""Runs that overlap beyond this wait for one another."""


class Terms(NamedTuple):
    """What a process is told before it has a program."""

    seconds: float
    wall_seconds: float
    memory_bytes: int
    timezone: str
    seed: int

    @classmethod
    def of(cls, limits: Limits, pins: Pins) -> Terms:
        """Those of a run."""
        seconds = max(min(limits.cpu_seconds, limits.wall_seconds, TURN_SECONDS), 0.001)
        memory = min(limits.memory_bytes, MEMORY_BYTES)
        return cls(seconds, limits.wall_seconds, memory, pins.timezone, pins.seed)


class Pool:
    """Processes that wait for programs, told the terms of the last run, which the next is likely to share."""

    def __init__(self, *, without: Collection[str] = ()) -> None:
        import pydantic_monty

        self.missing: Mapping[str, str] = {}
        """The layers that are not there, each with the reason."""
        self._lock = threading.Lock()
        self._filled = threading.Condition(self._lock)
        self._spares: list[Worker] = []
        self._filling = False
        self._closed = False
        self._script = Script(without) if CONFINES else None
        self._pool = pydantic_monty.Monty(
            binary_path=None if self._script is None else self._script.path,
            min_processes=1,
            max_processes=MOST_PROCESSES,
            checkout_timeout=START_SECONDS,
            request_timeout=TURN_SECONDS,
            feed_duration_limit_grace=0.03,
            turn_duration_limit_grace=0.03,
        )
        try:
            self._pool.__enter__()
            with self._pool.checkout() as session:
                session.feed_run("0")  # the first process has its layers by now, or is dead
        except Exception as error:
            self.close()
            raise self._unavailable(error) from error
        if self._script is not None:
            self.missing = self._script.reported()
        self._start_filling(Terms.of(Limits(), Pins()))

    def take(self, terms: Terms) -> Worker:
        """A process for one run.

        Raises:
            SandboxUnavailable: none can be had.
        """
        while True:
            with self._lock:
                # One that was told other terms is told these, so that no process waits without any.
                worker = next((spare for spare in self._spares if spare.terms == terms), None)
                worker = worker or next(iter(self._spares), None)
                if worker is not None:
                    self._spares.remove(worker)
            if worker is None:
                return self._checkout(terms)
            if not worker.alive():
                worker.close()
            elif worker.terms == terms:
                return worker
            else:
                worker.close()
                return self._checkout(terms)

    def give_back(self, worker: Worker) -> None:
        """The end of a run: its process waits for the next one, or is replaced while nobody waits for that."""
        lives = worker.alive()
        worker.close()
        if not lives:
            self._start_filling(worker.terms)
        elif not self._closed and len(self._spares) < MOST_IDLE:
            self._add(worker.terms)

    def spare_pids(self) -> list[int]:
        """The processes that have been told their terms."""
        with self._lock:
            return [worker.pid for worker in self._spares]

    def close(self) -> None:
        """End the processes that wait, and those of runs when these are over."""
        with self._filled:
            self._closed = True
            self._filled.wait_for(lambda: not self._filling, START_SECONDS)
            left, self._spares = self._spares, []
        for worker in left:
            worker.close()
        with suppress(RuntimeError):  # it was never entered
            self._pool.__exit__(None, None, None)
        if self._script is not None:
            self._script.close()

    def _start_filling(self, terms: Terms) -> None:
        with self._lock:
            if self._closed or self._filling or len(self._spares) >= SPARES:
                return
            self._filling = True
        workers.start(lambda: self._fill(terms))

    def _fill(self, terms: Terms) -> None:
        """Start processes until so many wait."""
        while self._add(terms):
            with self._lock:
                if len(self._spares) >= SPARES:
                    break
        with self._filled:
            self._filling = False
            self._filled.notify_all()

    def _add(self, terms: Terms) -> bool:
        """Have one more process wait. Whether that could be done."""
        try:
            worker = self._checkout(terms)
        except SandboxUnavailable:  # a run that needs one will tell
            return False
        with self._lock:
            if not self._closed:
                self._spares.append(worker)
                return True
        worker.close()
        return False

    def _checkout(self, terms: Terms) -> Worker:
        for _ in range(MOST_PROCESSES):
            session = self._pool.checkout(
                script_name="program.py",
                limits={
                    "max_feed_duration_secs": terms.seconds,
                    "max_turn_duration_secs": terms.seconds,
                    "max_memory": terms.memory_bytes,
                    "max_recursion_depth": RECURSION,
                    "max_suspensions": SUSPENSIONS,
                    "max_total_sleep_secs": terms.wall_seconds,
                },
                os_policy=machine.policy(terms.timezone, terms.seed),
                assert_message_annotations=False,
            )
            try:
                session.__enter__()
            except Exception as error:
                raise self._unavailable(error) from error
            worker = Worker(session, terms)
            if worker.alive():
                return worker
            worker.close()  # it died while it waited; the pool has noticed by now
        raise SandboxUnavailable("the monty sandbox's processes die while they wait; see the kernel log")

    def _unavailable(self, error: Exception) -> SandboxUnavailable:
        missing = self._script.reported() if self._script is not None else {}
        reasons = "; ".join(f"{LAYERS.get(name, name)}: {why}" for name, why in missing.items())
        text = f"the monty sandbox cannot start its interpreter: {error}"
        return SandboxUnavailable(f"{text} (missing: {reasons})" if reasons else text)


class Worker:
    """One process, from when it has its terms to when its program is over."""

    def __init__(self, session: pydantic_monty.MontySession, terms: Terms) -> None:
        self.session, self.terms = session, terms
        pid = session.worker_pid
        assert pid is not None, "a session that was just entered has a process"
        self.pid = pid
        self._pidfd = -1
        if hasattr(os, "pidfd_open"):
            with suppress(OSError):  # it is dead, or the kernel is older than 5.3
                self._pidfd = os.pidfd_open(pid)

    def alive(self) -> bool:
        """Whether the process runs, as far as this system can tell."""
        if self._pidfd < 0:
            return not hasattr(os, "pidfd_open")
        poll = select.poll()
        poll.register(self._pidfd, select.POLLIN)
        return not poll.poll(0)

    def kill(self) -> None:
        """End the process at once; the pool replaces it."""
        with suppress(OSError):
            if self._pidfd >= 0:
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            else:
                os.kill(self.pid, getattr(signal, "SIGKILL", signal.SIGTERM))

    def close(self) -> None:
        """Give the process back."""
        try:
            self.session.__exit__(None, None, None)
        except Exception:  # noqa: BLE001 - the session of a process that died; the pool has replaced it
            self.kill()
        finally:
            if self._pidfd >= 0:
                os.close(self._pidfd)
                self._pidfd = -1
