"""Places in the responses of tools."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ResponseLocation:
    """A place in the response of a tool: the tool, and the path to a value in its response.

    `path` has the keys that lead to the value. None stands for any item of a list.
    """

    tool: str
    path: tuple[str | None, ...] = ()

    def child(self, key: str | None) -> ResponseLocation:
        """Return the place one level deeper in the response.

        `key` is the key of a field of the object at this place, or None for any item of the list
        at this place.
        """
        return ResponseLocation(self.tool, (*self.path, key))

    def __str__(self) -> str:
        if not self.path:
            return f"the result of {self.tool}"
        *before, last = self.path
        rest = str(ResponseLocation(self.tool, tuple(before)))
        if last is None:
            return f"an item of {rest}"
        return f"{last!r} {'of' if before and before[-1] is None else 'in'} {rest}"
