"""Signals around one call: Ctrl-C waits until it is recorded, and a function that hangs is stopped.

Signals reach the main thread alone; on another, and where somebody else handles them, nothing is changed.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class OutOfTime(BaseException):
    """The time is over. No `Exception`, so that the function that hangs does not catch it by chance."""


@contextmanager
def finishing() -> Iterator[None]:
    """Ctrl-C takes effect when the block is done; a second one does so at once."""
    if not _here() or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    pressed = False

    def note(_signal: int, _frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        pressed = True

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if pressed:
            raise KeyboardInterrupt


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """`OutOfTime` is raised in the block after so many seconds, and each second again until it is left.

    Code that does not come back to Python, such as a search by a regular expression, is not stopped.
    """
    if not _here() or not hasattr(signal, "setitimer") or signal.getitimer(signal.ITIMER_REAL)[0]:
        yield
        return

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _here() -> bool:
    return threading.current_thread() is threading.main_thread()
