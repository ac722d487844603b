"""The view of a run below a cell of a notebook."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Self

from rich.console import Console

from atc.core.events import Event
from atc.core.solution_block import lines_block
from atc.core.text import count
from atc.observe.terminal_view import RunView


class NotebookView:
    """An observer that shows the events of one run below the current cell of a notebook.

    Use it as a context manager. The lines are those of the terminal. At the end they are folded,
    because the solution, which the notebook shows if it is the value of the cell, has the rest. If
    an error ended the run, they stay open.
    """

    def __init__(self) -> None:
        self._console = _LineConsole(self._show)
        self._view = RunView(self._console)
        self._handle: Any = None

    def __enter__(self) -> Self:
        self._handle = _display(self._html(is_open=True))
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self._show(is_open=kind is not None)

    def __call__(self, event: Event) -> None:
        """Show one event of the run."""
        self._view(event)

    def _show(self, *, is_open: bool = True) -> None:
        if self._handle is not None:
            self._handle.update(self._html(is_open=is_open))

    def _html(self, *, is_open: bool) -> _Html:
        lines = self._console.lines
        title = f"run, {count(len(lines), 'line')}" if lines else "run"
        return _Html(lines_block(lines, is_open=is_open, title=title), "\n".join(lines))


class _Html:
    """A piece of HTML that a notebook displays, and its text for other front ends."""

    def __init__(self, html: str, text: str) -> None:
        self._html = html
        self._text = text

    def _repr_html_(self) -> str:
        return self._html

    def __repr__(self) -> str:
        return self._text


class _LineConsole(Console):
    """A console that keeps the lines which are printed, and calls `changed` after each of them."""

    def __init__(self, changed: Callable[[], None]) -> None:
        super().__init__(file=sys.stderr, force_terminal=False, force_jupyter=False, width=200)
        self.lines: list[str] = []
        self._changed = changed

    def print(self, *objects: Any, **_: Any) -> None:
        """Keep each object as a line."""
        self.lines += map(str, objects)
        self._changed()


def _display(shown: _Html) -> Any:
    """Display something below the cell, and return the handle with which it can be replaced."""
    from IPython.display import display  # type: ignore[import-not-found]  # only in a notebook

    return display(shown, display_id=True)
