"""Check of values that a program hands to the host: plain data of a bounded size."""

from __future__ import annotations

import datetime
import decimal
import uuid
from collections.abc import Sized
from typing import Any

from sandbox.file_objects import File
from sandbox.frames import FRAME_BYTES, LEVELS

_PLAIN = (
    type(None), str, bytes, int, float, list, tuple, set, frozenset, dict, datetime.date,
    datetime.time, datetime.timedelta, decimal.Decimal, uuid.UUID,
)  # fmt: skip


def require_bounded(value: Any) -> Any:
    """Check that a value is plain data that fits into one frame, and return it unchanged.

    This is checked before encoding, because a small value may be very large as JSON: after `x = [x,
    x]`, `x` is twice as large.

    Raises:
        ValueError: the value is too large, too deeply nested, or not plain data.
    """
    left = FRAME_BYTES
    inside = [(value, LEVELS - 4)]
    while inside:
        item, levels = inside.pop()
        if type(item) is File:
            continue  # it is sent as a number
        left -= 3 + (
            len(item) if isinstance(item, Sized) else 0
        )  # counted before its parts are visited
        if left < 0 or levels == 0 or not isinstance(item, _PLAIN):
            raise ValueError("more than can be sent")
        parts = [*item.keys(), *item.values()] if isinstance(item, dict) else item
        if isinstance(parts, list | tuple | set | frozenset):
            inside += [(part, levels - 1) for part in parts]
    return value
