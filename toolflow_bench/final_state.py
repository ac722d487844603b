"""Whether the writes of a run left what they should have: records by service and collection."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from protocols.schema import Json

Snapshot = Mapping[str, Mapping[str, Sequence[Json]]]
"""As `toolflow_bench.world.World.snapshot` gives it: without the records' own ids, which differ with their order."""


def find_difference(found: Snapshot, wanted: Snapshot, *, tolerance: float = 0.0) -> str | None:
    """The first difference in words, or None. Order among a collection's records does not matter, within one it does.

    `tolerance` is how far a number may be off, absolutely.
    """
    for service, collection in sorted(
        {(s, c) for side in (found, wanted) for s in side for c in side[s]}
    ):
        there = list(found.get(service, {}).get(collection, ()))
        for record in wanted.get(service, {}).get(collection, ()):
            match = next(
                (index for index, one in enumerate(there) if _is_same(one, record, tolerance)), None
            )
            if match is None:
                beside = f"; there is {_short(there[0])}" if there else ""
                return f"{service} {collection}: {_short(record)} is missing{beside}"
            del there[match]
        if there:
            return f"{service} {collection}: {_short(there[0])} should not be there"
    return None


def _is_same(one: Json, other: Json, tolerance: float) -> bool:
    match one, other:
        case dict(), dict():
            return one.keys() == other.keys() and all(
                _is_same(one[key], other[key], tolerance) for key in one
            )
        case list(), list():
            return len(one) == len(other) and all(
                map(lambda a, b: _is_same(a, b, tolerance), one, other)
            )
        case (bool(), _) | (_, bool()):
            return one is other
        case ((int() | float()), (int() | float())):
            return abs(one - other) <= tolerance + 1e-9 * max(1.0, abs(other))
    return bool(one == other)


def _short(record: Json) -> str:
    text = json.dumps(record, ensure_ascii=False)
    return text if len(text) <= 160 else text[:157] + "..."
