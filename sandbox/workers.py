"""Worker threads that do not keep the process alive, even if a tool never returns."""

from __future__ import annotations

import atexit
import os
import queue
import threading
import time
from collections.abc import Callable

MOST_IDLE = 16
EXIT_SECONDS = 5.0  # how long the process waits for running tasks at exit

_idle: list[queue.SimpleQueue[Callable[[], None]]] = []
_busy: set[queue.SimpleQueue[Callable[[], None]]] = set()


def start(task: Callable[[], None]) -> None:
    """Run `task` in an idle daemon thread, or in a new one. `task` must not raise an exception."""
    try:
        inbox = _idle.pop()
    except IndexError:
        inbox = queue.SimpleQueue()
        threading.Thread(target=_serve, args=(inbox,), name="sandbox-worker", daemon=True).start()
    _busy.add(inbox)
    inbox.put(task)


def _serve(inbox: queue.SimpleQueue[Callable[[], None]]) -> None:
    while True:
        task = inbox.get()
        task()
        del task  # its references must not live until the next task
        _busy.discard(inbox)
        if len(_idle) >= MOST_IDLE:
            return
        _idle.append(inbox)


@atexit.register
def _finish() -> None:
    """Wait a few seconds for running tasks when the process exits.

    Otherwise a thread that runs native code could crash the process when the interpreter ends.
    """
    ends = time.monotonic() + EXIT_SECONDS
    while _busy and time.monotonic() < ends:
        time.sleep(0.01)


for known in (_idle, _busy):
    os.register_at_fork(after_in_child=known.clear)
