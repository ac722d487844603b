"""Validation of the text of a task."""

from __future__ import annotations

from reprlib import repr as shortened

from protocols.errors import AtcError

LONGEST_TASK = 20_000
"""Longest task, in characters. A longer one would leave no room for tools in a small prompt."""


class InvalidTask(AtcError):
    """Raised for a task that cannot be solved, because it is no text, is empty, or is too long."""


def readable(task: str) -> str:
    """Check the text of a task, and return it without surrounding blanks.

    Raises:
        InvalidTask: The task is not text, is empty, or has more than `LONGEST_TASK` characters.
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
            f"the task has {len(text):,} characters, more than {LONGEST_TASK:,};"
            " put data where a tool can read it."
        )
    return text
