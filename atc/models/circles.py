"""Replies that run in circles: a small model that has begun to repeat itself goes on so to the last token."""

from __future__ import annotations

_SHORTEST = 240
"""Characters that repeat, at least: rules of dashes and rows of zeros are shorter."""
_TIMES = 6
_LONGEST_PERIOD = 200


def runs_in_circles(text: str) -> bool:
    """Whether `text` ends in one piece, of 200 characters at most, that stands there six times or more in a row."""
    for period in range(1, min(_LONGEST_PERIOD, len(text) // _TIMES) + 1):
        tail = max(_SHORTEST, _TIMES * period)
        if len(text) >= tail and text[-1] == text[-1 - period] and text[-tail:-period] == text[period - tail :]:
            return True
    return False
