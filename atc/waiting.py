"""How long a model's reply is waited for: up to a moment that whoever asks has set."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from protocols.errors import OutOfTime

_UNTIL: ContextVar[float] = ContextVar("until", default=math.inf)


@contextmanager
def wait_until(moment: float) -> Iterator[None]:
    """Within it, in this thread, no reply is waited for beyond `moment` of `time.monotonic()`."""
    token = _UNTIL.set(moment)
    try:
        yield
    finally:
        _UNTIL.reset(token)


def patience(most: float) -> float:
    """Seconds that a reply may take from now on: `most`, or what is left.

    Raises:
        OutOfTime: nothing is left.
    """
    left = _UNTIL.get() - time.monotonic()
    if left <= 0:
        raise OutOfTime("the model's reply did not come in the time that was given for it; allow more of it.")
    return min(most, left)
