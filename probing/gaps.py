"""What the responses of a tool have not shown yet: fields that were always null, lists that were always empty."""

from __future__ import annotations

from collections.abc import Iterable

from protocols.jsontypes import Json


def gaps(responses: Iterable[Json]) -> set[str]:
    """The paths (`flights[].gate`) at which nothing but null, `[]` and `{}` was ever seen."""
    empty: set[str] = set()
    filled: set[str] = set()
    for response in responses:
        _walk(response, "", empty, filled)
    return empty - filled


def records(responses: Iterable[Json]) -> int:
    """How many objects the responses hold in lists, the fullest level of each counted alone."""
    return sum(_longest(response) for response in responses)


def _walk(node: Json, path: str, empty: set[str], filled: set[str]) -> None:
    if isinstance(node, dict):
        for key, part in node.items():
            _walk(part, f"{path}.{key}".lstrip("."), empty, filled)
    elif isinstance(node, list):
        for part in node:
            _walk(part, f"{path}[]", empty, filled)
    (empty if node in (None, [], {}) else filled).add(path)


def _longest(node: Json) -> int:
    if isinstance(node, dict):
        return max(map(_longest, node.values()), default=0)
    return max(len(node), *map(_longest, node)) if isinstance(node, list) and node else 0
