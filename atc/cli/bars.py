"""A progress bar with an estimate on a terminal's stderr; nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from atc.view import stderr_console


@contextmanager
def bar(description: str, *, total: int) -> Iterator[Callable[[int], None]]:
    """A bar while it is open. What it gives takes how many of `total` are done."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=stderr_console(), disable=not sys.stderr.isatty(), transient=True) as progress:
        task = progress.add_task(description, total=total)
        yield lambda done: progress.update(task, completed=done)
