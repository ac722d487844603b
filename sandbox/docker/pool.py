"""Containers that were started before anybody needs them, each for one program."""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

from sandbox.docker.container import Container, Kind
from sandbox.docker.leftovers import remove_leftovers
from sandbox.errors import SandboxUnavailable
from sandbox.limits import Limits

WORKERS = 2
"""Threads that start and remove containers."""

_CLOSED = "the docker sandbox was closed; make a new one"


class Pool:
    """So many `spares` of one kind, each replaced after the run that took it. Thread-safe.

    `missing` are the layers that the containers of this engine cannot have, as far as is known.
    """

    def __init__(self, kind: Kind, spares: int) -> None:
        self.missing: tuple[str, ...] = ()
        self._kind, self._most = kind, spares
        self._lock = threading.Lock()
        self._limits = Limits()
        self._spares: deque[Future[Container]] = deque()
        self._live: set[Container] = set()
        self._closed = False
        self._workers = ThreadPoolExecutor(WORKERS, thread_name_prefix="docker-sandbox")
        self._workers.submit(self._remove_leftovers)

    def fill(self) -> None:
        """Have spares started, without waiting for them."""
        with self._lock:
            while not self._closed and len(self._spares) < self._most:
                self._spares.append(self._workers.submit(self._start, self._limits))

    def ready(self) -> int:
        """How many spares have started."""
        with self._lock:
            return sum(spare.done() for spare in self._spares)

    def take(self, limits: Limits) -> Container:
        """A container for one program within `limits`: a spare that fits, or a fresh one.

        Raises:
            SandboxUnavailable: it cannot be had.
        """
        with self._lock:
            self._limits = limits
            spare = self._spares.popleft() if self._spares else None
        if spare is not None:
            with suppress(SandboxUnavailable):  # what hinders it will hinder a fresh one too, and be told
                container = spare.result()
                if container.fits(limits):
                    return self._confined(container, limits)
                self.discard(container)
        return self._confined(self._start(limits), limits)

    def discard(self, container: Container) -> None:
        """Have a container removed, without waiting for it."""
        with self._lock:
            if not self._closed:
                self._workers.submit(self._remove, container)

    def close(self) -> None:
        """Remove every container, those in use too, and wait until they are gone."""
        with self._lock:
            self._closed = True
            self._spares.clear()
        self._workers.shutdown(wait=True)
        for container in list(self._live):
            with suppress(SandboxUnavailable):  # the engine is gone, and they with it
                self._remove(container)
        self._kind.client.close()

    def _start(self, limits: Limits) -> Container:
        if self._closed:
            raise SandboxUnavailable(_CLOSED)
        container = Container(self._kind, limits)
        self.missing = container.missing
        with self._lock:
            closed = self._closed
            if not closed:
                self._live.add(container)
        if closed:
            container.remove()
            raise SandboxUnavailable(_CLOSED)
        return container

    def _confined(self, container: Container, limits: Limits) -> Container:
        try:
            container.confine(limits)
        except BaseException:
            self.discard(container)
            raise
        return container

    def _remove(self, container: Container) -> None:
        container.remove()
        with self._lock:
            self._live.discard(container)

    def _remove_leftovers(self) -> None:
        with suppress(SandboxUnavailable):
            remove_leftovers(self._kind.client)
