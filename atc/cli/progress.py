"""How far long work has come: a bar with an estimate on a terminal's stderr, and little or nothing elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from atc.cli.output import say


@contextmanager
def bar(description: str, *, total: int) -> Iterator[Callable[..., None]]:
    """A bar while it is open. What it gives takes how many of `total` are done, and leaves out what else it is told."""
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    # Only where a bar is drawn: every command would wait for the import.
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from atc.view import stderr_console

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=stderr_console(), transient=True) as progress:
        task = progress.add_task(description, total=total)
        yield lambda done, *_: progress.update(task, completed=done)


def told_in_tenths() -> Callable[[int, int], None]:
    """Says on stderr when another tenth of a model's bytes has come, and about how long the rest takes."""
    told, began, first = -1, time.monotonic(), 0

    def progress(done: int, total: int) -> None:
        nonlocal told, began, first
        if told < 0:
            began, first = time.monotonic(), done
        if (tenth := done * 10 // total) > told:
            seconds = (time.monotonic() - began) * (total - done) / (done - first) if done > first else None
            left = f", about {seconds:.0f} s left" if seconds else ""
            say(f"fetching the model (once): {done / 1e6:,.0f} of {total / 1e6:,.0f} MB{left}")
            told = tenth

    return progress
