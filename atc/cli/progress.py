"""How far long work has come: a bar with an estimate on a terminal's stderr, and little or nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from atc.cli.output import say
from atc.view import stderr_console


@contextmanager
def bar(description: str, *, total: int) -> Iterator[Callable[[int], None]]:
    """A bar while it is open. What it gives takes how many of `total` are done."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=stderr_console(), disable=not sys.stderr.isatty(), transient=True) as progress:
        task = progress.add_task(description, total=total)
        yield lambda done: progress.update(task, completed=done)


@contextmanager
def download_bar() -> Iterator[Callable[[int, int], None]]:
    """The same of bytes that come and bytes in all, with speed; lines where there is no terminal."""
    if not sys.stderr.isatty():
        yield told_in_tenths()
        return
    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=stderr_console(), transient=True) as progress:
        task = progress.add_task("model", total=None, visible=False)
        yield lambda done, total: progress.update(task, completed=done, total=total, visible=True)


def told_in_tenths() -> Callable[[int, int], None]:
    """Says on stderr when another tenth of the model has come."""
    told = -1

    def progress(done: int, total: int) -> None:
        nonlocal told
        if (tenth := done * 10 // total) > told:
            told = tenth
            say(f"fetching the model (once): {done / 1e6:,.0f} of {total / 1e6:,.0f} MB")

    return progress
