"""The work that one check may do: counted and not timed, so that a program gets the same findings on every machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

MOST_WORK = 1_000_000
"""Units of work, each about a tenth of a microsecond, before the check stops looking further."""
STEP = 25
"""Units of one visit of an expression or a statement."""
FINDING = 250
"""Units of one finding: its words, and what it looks up for them."""

_left: ContextVar[list[int] | None] = ContextVar("left", default=None)


class OutOfSteps(Exception):
    """The program needs more work than the check spends; what was found so far stands."""


@contextmanager
def bounded() -> Iterator[None]:
    """Within this, `spend` counts, from the whole budget on."""
    token = _left.set([MOST_WORK])
    try:
        yield
    finally:
        _left.reset(token)


def spend(work: int) -> None:
    """Count units of work, in the `bounded` part around it.

    What is done once for each name, key, alternative or node says so here: a step alone may reach all of them.

    Raises:
        OutOfSteps: there were too many.
    """
    left = _left.get()
    if left is None:
        return
    left[0] -= work
    if left[0] < 0:
        raise OutOfSteps
