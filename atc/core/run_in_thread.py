"""Execution of a blocking run in a thread, so that asyncio programs can await it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

from atc.core.events import Event, Observer

R = TypeVar("R")


async def run_in_thread(run: Callable[[Observer], R], observer: Observer | None) -> R:
    """Call `run` in a thread and return its result.

    `observer`, if it is not None, receives the events of the run. If the caller's asyncio task is
    cancelled, the run ends at its next event, as after Ctrl-C.
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
