"""Positions in the responses of tools."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ResponseLocation:
    """A position in a tool's response. In `path`, None stands for any item of a list."""

    tool: str
    path: tuple[str | None, ...] = ()

    def then(self, step: str | None) -> ResponseLocation:
        """Return the position of the item or field `step` of the value at this position."""
        return ResponseLocation(self.tool, (*self.path, step))

    def __str__(self) -> str:
        if not self.path:
            return f"the result of {self.tool}"
        *before, last = self.path
        rest = str(ResponseLocation(self.tool, tuple(before)))
        if last is None:
            return f"an item of {rest}"
        return f"{last!r} {'of' if before and before[-1] is None else 'in'} {rest}"
