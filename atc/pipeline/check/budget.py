"""Work budget of one check of a program.

Work is counted, not timed, so that a program gets the same findings on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

MOST_WORK = 1_000_000
"""Units of work after which the check stops. One unit takes about a tenth of a microsecond."""
STEP = 25
"""Units of work that are charged for visiting one expression or statement."""
FINDING = 250
"""Units of work that are charged for one finding, including the lookups for its message."""

_left: ContextVar[list[int] | None] = ContextVar("left", default=None)


class OutOfSteps(Exception):
    """The program needs more work than the budget of the check allows.

    The findings about the parts that were analysed completely are kept.
    """


@contextmanager
def bounded() -> Iterator[None]:
    """Start a new work budget for one check of a program.

    `spend` charges the work done within the `with` block to this budget.
    """
    token = _left.set([MOST_WORK])
    try:
        yield
    finally:
        _left.reset(token)


def current_budget() -> list[int] | None:
    """Return the budget of the current check, or None outside a check.

    Each check has its own budget, which therefore identifies the check.
    """
    return _left.get()


def spend(work: int) -> None:
    """Subtract `work` units from the budget of the current check. Outside a check, do nothing.

    The check charges `STEP` units for each expression and statement that it visits. Code that loops
    over many things within one such visit, such as all variables or all keys of a dict, must charge
    for the loop with an extra call of this function.

    Raises:
        OutOfSteps: the budget is used up.
    """
    left = _left.get()
    if left is None:
        return
    left[0] -= work
    if left[0] < 0:
        raise OutOfSteps
