"""A moving status line on a terminal, which never outlives what it tells of."""

from __future__ import annotations

from typing import Self

from rich.console import Console
from rich.status import Status


class Moving:
    """Shows `first` as soon as it is entered, where the console is a terminal; `_status` is None elsewhere."""

    def __init__(self, console: Console, *, first: str) -> None:
        self._console, self._first = console, first
        self._status: Status | None = None

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._status = self._console.status(self._first, spinner="dots")
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None
