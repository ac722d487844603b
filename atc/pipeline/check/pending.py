"""The type behind coroutines, tasks and futures.

A program may call a tool plainly, or await its call. So the type of a tool call is that of its
result in both cases, and awaiting a value that is no awaitable gives the value itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from atc.pipeline.check import types as t


@dataclass(frozen=True, slots=True)
class Pending(t.Type):
    """The type of a coroutine, task or future. `result` is the type of the value that it brings."""

    result: t.Type
    size: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", 1 + t.size(self.result))


def awaited(value: t.Type) -> t.Type:
    """Return the type that `await` makes of a value."""
    return t.join_all(
        member.result if isinstance(member, Pending) else member for member in t.members(value)
    )
