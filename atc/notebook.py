"""A run in a notebook: its events below the cell, as `atc run` shows them on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from atc.events import Observer


@contextmanager
def shown(observer: Observer | None) -> Iterator[Observer | None]:
    """The observer; in a notebook, where there is none, one that shows the run below the cell."""
    if observer is not None or not _in_notebook():
        yield observer
        return
    from rich.console import Console

    from atc.view import RunView

    with RunView(Console(force_jupyter=True, highlight=False, markup=False, emoji=False)) as view:
        yield view


def _in_notebook() -> bool:
    """Whether this process is the kernel of a notebook, in which there is something to display on."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and hasattr(shell, "kernel")
