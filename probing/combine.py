"""Values that belong together: arguments of one call are best taken from one record.

`(airline, flight_number, date)` taken from three records names no flight; taken from one, it does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from probing.sample import Origin, Sample, Value
from protocols.jsontypes import Json

MOST_CANDIDATES = 60
"""Values of one argument that are looked at."""
_MOST_RECORDS = 40  # of one list
_SPREAD = 12  # combinations of values that a record holds together
_APART = 3.0  # places by which an argument's value may be worse if a record holds it with the others
_NAMED = 0.5

Place = tuple[str, str]
"""A tool and a path in its response."""


@dataclass(frozen=True, slots=True)
class Record:
    """An object of a response: each of its scalars, those of the objects around it, and the arguments of its call."""

    tool: str
    sample: int
    values: Mapping[Place, Value]


def combinations(
    candidates: Mapping[str, Sequence[Value]],
    records: Sequence[Record],
    *,
    preferred: Collection[str] = (),
    apart: bool = False,
    held: Collection[str] = (),
) -> Iterator[dict[str, Value]]:
    """Values for all arguments at once, best first, none twice.

    First those that a record holds together, of the records that hold most of them and take the better candidates;
    arguments that no record has take their best candidate. Then each argument's candidates in turn. Records of the
    tools in `preferred` go first. `apart`: values that a record holds together are what is not wanted, since what they
    describe is there already. `held` are the arguments whose best candidate is known to be good: the others are varied
    before them.
    """
    if any(not values for values in candidates.values()):
        return
    seen: set[str] = set()
    first = {name: values[0] for name, values in candidates.items()}
    together = _together(candidates, records, preferred) if len(candidates) > 1 else iter(())
    if apart:
        together = _apart(candidates)
    for chosen in (*islice(together, _SPREAD), first, *_in_turn(candidates, first, held)):
        key = repr([(name, chosen[name].value) for name in candidates])
        if key not in seen:
            seen.add(key)
            yield {name: chosen[name] for name in candidates}


def records_of(sample: Sample) -> list[Record]:
    """The records in a response, outer before inner."""
    given = {(sample.tool, f"({name})"): value for name, value in sample.arguments.items()}
    found: list[Record] = []
    _walk(sample.response, "", given, sample, found)
    return found


def argument_place(tool: str, name: str) -> Place:
    """The place of a value that was another call's argument."""
    return (tool, f"({name})")


def _walk(node: Json, path: str, around: Mapping[Place, Value], sample: Sample, found: list[Record]) -> None:
    if isinstance(node, list):
        for item in node[:_MOST_RECORDS]:
            _walk(item, f"{path}[]", around, sample, found)
    elif isinstance(node, Mapping):
        own = {
            (sample.tool, here): Value(value, _origin(sample, here))
            for key, value in node.items()
            if isinstance(value, str | int | float) and (here := f"{path}.{key}".lstrip("."))
        }
        inside = {**around, **own}
        if own:
            found.append(Record(sample.tool, sample.number, inside))
        for key, value in node.items():
            _walk(value, f"{path}.{key}".lstrip("."), inside, sample, found)
    elif isinstance(node, str | int | float) and path.endswith("[]"):
        found.append(
            Record(sample.tool, sample.number, {**around, (sample.tool, path): Value(node, _origin(sample, path))})
        )


def _origin(sample: Sample, path: str) -> Origin:
    return Origin(kind="response", tool=sample.tool, path=path, sample=sample.number)


def _together(
    candidates: Mapping[str, Sequence[Value]], records: Sequence[Record], preferred: Collection[str]
) -> Iterator[dict[str, Value]]:
    ranks = {name: _place_ranks(values) for name, values in candidates.items()}
    allowed = {name: {repr(value.value) for value in values} for name, values in candidates.items()}
    scored: dict[float, dict[int, list[dict[str, Value]]]] = {}
    for record in records:
        chosen: dict[str, Value] = {}
        cost = -_APART if record.tool in preferred else 0.0
        for name in candidates:
            # A field stands for one argument: the player's id is not the team's as well.
            used = {(value.origin.tool, value.origin.path) for value in chosen.values()}
            fits = [
                (rank, place)
                for place, value in record.values.items()
                if (rank := _rank(place, name, ranks[name])) is not None
                and _fits(value, candidates[name], allowed[name])
                and (value.origin.tool, value.origin.path) not in used
            ]
            if fits:
                rank, place = min(fits)
                chosen[name] = record.values[place]
                cost += rank
            else:
                cost += _APART
        if len(chosen) > 1:
            scored.setdefault(cost, {}).setdefault(record.sample, []).append(chosen)
    for cost, by_response in sorted(scored.items()):
        if cost > _APART * (len(candidates) - 1):
            return  # each argument's best value, wherever it is from, is as good
        for chosen in _spread(list(by_response.values())):
            yield {name: chosen.get(name, values[0]) for name, values in candidates.items()}


def _place_ranks(values: Sequence[Value]) -> dict[Place, int]:
    """How good each place is for an argument: its number among those that its candidates come from."""
    places = [(v.origin.tool, v.origin.path) for v in values if v.origin.kind == "response"]
    return {place: rank for rank, place in enumerate(dict.fromkeys(places))}


def _rank(place: Place, name: str, ranks: Mapping[Place, int]) -> float | None:
    """The place's rank. A field, or another call's argument, of the very name is good wherever its candidates stand."""
    named = [_NAMED] if place[1].rsplit(".", 1)[-1].strip("[]()") == name else []
    return min([*named, *([ranks[place]] if place in ranks else [])], default=None)


def _fits(value: Value, values: Sequence[Value], allowed: set[str]) -> bool:
    # A list too long to be looked at whole may hold the value further down.
    return repr(value.value) in allowed or len(values) >= MOST_CANDIDATES


def _spread(groups: Sequence[Sequence[dict[str, Value]]]) -> Iterator[dict[str, Value]]:
    """The first of each response, then the second of each: neighbours in one list teach the same."""
    for depth in range(max(map(len, groups), default=0)):
        for group in groups:
            if depth < len(group):
                yield group[depth]


def _apart(candidates: Mapping[str, Sequence[Value]]) -> Iterator[dict[str, Value]]:
    """Each argument's candidates, the second's one further on than the first's, and so on."""
    for depth in range(max(map(len, candidates.values()), default=0)):
        yield {name: values[(depth + n) % len(values)] for n, (name, values) in enumerate(candidates.items())}


def _in_turn(
    candidates: Mapping[str, Sequence[Value]], first: Mapping[str, Value], held: Collection[str]
) -> Iterator[dict[str, Value]]:
    varied = {name: values for name, values in candidates.items() if name not in held}
    if varied and len(varied) < len(candidates):
        yield from ({**first, **chosen} for chosen in _in_turn(varied, first, ()))
    for depth in range(1, max(map(len, candidates.values()), default=0)):
        yield {**first, **{name: values[min(depth, len(values) - 1)] for name, values in candidates.items()}}
        for name, values in candidates.items():
            if depth < len(values):
                yield {**first, name: values[depth]}
