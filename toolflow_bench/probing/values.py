"""The values at a path of a response."""

from __future__ import annotations

from collections.abc import Mapping

from protocols.jsontypes import Json


def values_at(response: Json, path: str) -> list[Json]:
    """Every scalar at `path` (`airports[].code`, `rates.*`), in the response's order."""
    found = [response]
    for step in path.replace("[]", ".[]").strip(".").split(".") if path else ():
        following: list[Json] = []
        for node in found:
            if step == "[]":
                following += node if isinstance(node, list) else ()
            elif isinstance(node, Mapping):
                following += node.values() if step == "*" and "*" not in node else [node[step]] if step in node else ()
        found = following
    return [value for value in found if not isinstance(value, list | Mapping)]
