"""Threads that nobody waits for: a tool that never returns may keep one, and the process still ends."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable

MOST_IDLE = 16

_idle: list[queue.SimpleQueue[Callable[[], None]]] = []


def start(task: Callable[[], None]) -> None:
    """Run `task`, which must not raise, on a daemon thread: one that has become idle, or a new one."""
    try:
        inbox = _idle.pop()
    except IndexError:
        inbox = queue.SimpleQueue()
        threading.Thread(target=_serve, args=(inbox,), name="sandbox-worker", daemon=True).start()
    inbox.put(task)


def _serve(inbox: queue.SimpleQueue[Callable[[], None]]) -> None:
    while True:
        task = inbox.get()
        task()
        del task  # what it holds must not live until the next one comes
        if len(_idle) >= MOST_IDLE:
            return
        _idle.append(inbox)


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_idle.clear)
