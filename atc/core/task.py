"""The text of a task, checked before anybody works on it."""

from __future__ import annotations

from reprlib import repr as shortened

from protocols.errors import AtcError

LONGEST_TASK = 20_000
"""Characters. A longer task would leave a small model no room for the tools."""


class InvalidTask(AtcError):
    """A task that cannot be worked on: no text, empty, or too long to be read."""

    exit_code = 2


def readable(task: str) -> str:
    """Return the task without blank ends.

    Raises:
        InvalidTask: it is no text, or nothing is left, or more than `LONGEST_TASK` characters.
    """
    if not isinstance(task, str):
        raise InvalidTask(
            f"the task must be a text, got {shortened(task)}; say in words what is to be done."
        )
    text = task.strip()
    if not text:
        raise InvalidTask("the task is empty; say what is to be found out or done.")
    if len(text) > LONGEST_TASK:
        raise InvalidTask(
            f"the task has {len(text):,} characters, more than {LONGEST_TASK:,}; put data where a tool can read it."
        )
    return text
