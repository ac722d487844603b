"""A dict that lacks the key it is asked for, since it was filled, or is asked, by another field than was meant.

Facts tell where an object that gave a key holds the other side's value in the field beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

from atc.attribute.blame import Candidate, Record
from atc.attribute.paths import EACH, KEY, Place, at
from atc.attribute.suspects import Suspect, nothing
from protocols.jsontypes import Json
from sandbox.trace import ToolCall

_LOOKED_AT = 2_000


def rekeyed(suspect: Suspect, record: Record) -> Iterator[Candidate]:
    """Fields that the keys of the dict, or the key asked for, should not have been taken from."""
    given = [s for s in record.slicer.sources(suspect.expr, (KEY,)) if s.kind == "call" and s.exact]
    filled = [(source, call, place) for source in given for call, place in islice(record.items(source), _LOOKED_AT)]
    odd = replace(suspect, role="keyed", odd=1)
    for source, call, place in filled:
        if any(_same(value, suspect.key) for value in beside(call, place)):
            yield Candidate(call, place, odd, source, proven=True)
            return
    if suspect.index is None:
        return
    if given and not filled:  # the dict has no keys at all, since there was nothing to take them from
        bare = replace(suspect, role="empty", fails=nothing, odd=1)
        whole = [
            replace(source, path=source.path[: source.path.index(EACH)]) for source in given if EACH in source.path
        ]
        yield from (candidate for candidate in record.candidates(bare, whole) if candidate.proven)
    keys = [place.seen for _, _, place in filled]
    for source in record.slicer.sources(suspect.index):
        for call, place in record.items(source) if source.kind == "call" and source.exact else ():
            asked = _same(place.seen, suspect.key)
            if asked and any(_same(value, key) for value in beside(call, place) for key in keys):
                yield Candidate(call, place, replace(odd, role="value"), source, proven=True)
                return


def beside(call: ToolCall, place: Place) -> list[Json]:
    """The values of the other fields of the object that a value stands in."""
    if place.missing is not None or not place.path or not isinstance(place.path[-1], str):
        return []
    parent = at(call.result, place.path[:-1])
    return [value for field, value in parent.items() if field != place.path[-1]] if isinstance(parent, Mapping) else []


def _same(one: Json, other: Json) -> bool:
    return type(one) is type(other) and isinstance(one, str | int) and bool(one == other)
