"""The names by which a sandbox is asked for. Imports nothing, so that a command line can know them at no cost."""

from __future__ import annotations

NAMES = ("zygote", "docker", "monty", "trusted")

AUTO = "auto"
"""The best that this machine has: never `trusted`, which is no boundary."""


def named(text: str) -> tuple[str, ...]:
    """The backends that `text` names, in order: one, or several with commas between them.

    Raises:
        ValueError: one of them does not exist. The message names those that do.
    """
    names = tuple(part.strip() for part in text.split(","))
    for name in names:
        if name not in NAMES:
            raise ValueError(f"no sandbox named {name!r}; there are {AUTO} and {', '.join(NAMES)}")
    return names
