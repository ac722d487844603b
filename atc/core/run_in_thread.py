"""A run in a thread of its own, for callers in an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

from atc.core.events import Event, Observer

R = TypeVar("R")


async def run_in_thread(run: Callable[[Observer], R], observer: Observer | None) -> R:
    """Return what `run` gives, called in a thread of its own with an observer that passes each event on.

    If the caller's task is cancelled, the run ends at its next event, as one that Ctrl-C interrupts.
    """
    cancelled = threading.Event()

    def watch(event: Event) -> None:
        if cancelled.is_set():
            raise asyncio.CancelledError
        if observer is not None:
            observer(event)

    try:
        return await asyncio.to_thread(run, watch)
    except asyncio.CancelledError:
        cancelled.set()
        raise
