"""Comparison of the records that a run wrote with the records that it should have written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from protocols.schema import Json

Snapshot = Mapping[str, Mapping[str, Sequence[Json]]]
"""Records, grouped by service and collection, as `World.snapshot` returns them.

The records' own ids are left out, since they depend on the order of writes.
"""


def find_difference(found: Snapshot, wanted: Snapshot, *, tolerance: float = 0.0) -> str | None:
    """Describe the first difference between two snapshots of records; None if they are equal.

    The order of records in a collection does not matter, but the order of a list within a record
    does. `tolerance` is an absolute difference that is allowed for every number.
    """
    for service, collection in sorted(_collections(found) | _collections(wanted)):
        place = f"{service} {collection}"
        missing, wrong = _compare(found, wanted, service, collection, tolerance)
        if missing:
            beside = f"; there is {_short(wrong[0])}" if wrong else ""
            return f"{place}: {_short(missing[0])} is missing{beside}"
        if wrong:
            return f"{place}: {_short(wrong[0])} should not be there"
    return None


def is_all_but(
    found: Snapshot, wanted: Snapshot, most_missing: int, *, tolerance: float = 0.0
) -> bool:
    """Return True if `found` lacks at most `most_missing` records of `wanted`, and has no other."""
    places = _collections(found) | _collections(wanted)
    compared = [_compare(found, wanted, *place, tolerance) for place in places]
    lacking = sum(len(missing) for missing, _ in compared)
    return lacking <= most_missing and not any(wrong for _, wrong in compared)


def _compare(
    found: Snapshot, wanted: Snapshot, service: str, collection: str, tolerance: float
) -> tuple[list[Json], list[Json]]:
    """Return the records that a collection lacks, and those that it should not have."""
    wrong = list(found.get(service, {}).get(collection, ()))
    missing = []
    for record in wanted.get(service, {}).get(collection, ()):
        match = next(
            (index for index, one in enumerate(wrong) if _is_same(one, record, tolerance)), None
        )
        if match is None:
            missing.append(record)
        else:
            del wrong[match]
    return missing, wrong


def _collections(snapshot: Snapshot) -> set[tuple[str, str]]:
    return {(service, name) for service, records in snapshot.items() for name in records}


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
