"""Which places' values suit an argument best: by name, by what was said of it, by known values and their shape."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from itertools import islice, zip_longest

from probing.facts import ArgumentFacts
from probing.generate.names import named as named_values
from probing.naming import EQUAL, NEAR, PAGING, TOLD, Name, argument_name, called, distance, said_of, words_of
from probing.pools.dates import dates_for, is_date
from probing.pools.place import Place, scalars
from probing.pools.search import nouns_of, words_about, words_for
from probing.sample import Value
from probing.shape import alike, distinctive, is_content, is_id, text_of
from protocols.jsontypes import Json
from protocols.protocol import ToolProtocol

KNOWN, SHAPED, ANY, LAST = 0.5, 2.5, 3.6, 4.2
"""Distances of places without a name in common: they hold a value known to be good; values like one; ids of any kind,
for an argument that is one, or for any other.
"""
_STEP = 0.75
"""By how much the next value of one place is further: after two, another place's first comes."""
_FAILED, _LOST, _UNLIKE, _OWN, _TAKEN = 1.0, 0.4, 1.0, 0.5, 0.75
_NAMED_BEFORE = 4.0
"""How much further places without a name in common are where others have one."""
_STRANGERS_TRIED = 2
"""Values of responses that failed, after which none of places without a name in common is tried for its type alone."""
_OF_EACH = 60
"""Values of one place that are offered."""
_MOST_STRANGERS = 8
"""Groups of places without a name in common that are looked at."""


@dataclass
class _Group:
    """Places of one name: values of one thing, wherever they came from."""

    distance: float
    places: list[Place] = field(default_factory=list)

    def values(self, popularity: Callable[[Json], int], about: set[str]) -> Iterator[Value]:
        """The values, one of each place in turn, those that most places know first; none twice.

        Places that speak of what the tool is `about` come first: films of a list of awards are films with awards.
        """
        nearest = sorted(self.places, key=lambda place: (not place.argument, -len(about & words_about(place))))
        ordered = [
            nlargest(_OF_EACH, _spread(list(place.values.values())), key=lambda held: popularity(held.value))
            for place in nearest
        ]
        seen: set[str] = set()
        for row in zip_longest(*ordered):
            for held in row:
                if held is not None and (text := text_of(held.value)) not in seen:
                    seen.add(text)
                    yield held


def _spread(values: Sequence[Value]) -> Iterator[Value]:
    """The first, the last, the middle one, and so on between: neighbours are often alike."""
    step = 1 << max(0, len(values) - 1).bit_length()
    yield from values[:1]
    yield from values[:0:-1][:1]
    done = {0, len(values) - 1}
    while step > 1:
        step //= 2
        for place in range(step, len(values), step):
            if place not in done:
                done.add(place)
                yield values[place]


@dataclass(frozen=True)
class _Fates:
    """What became of the values that an argument was given so far, by their text."""

    accepted: frozenset[str]
    refused: frozenset[str]
    lost: frozenset[str]
    of_ids: bool
    told: bool
    """Whether replies said which values are good, so that the others of a place can be told apart."""

    def of(self, place: Place, *, near: bool) -> float | None:
        """What the fate of its values adds to a place's distance; `None` where others of it would fare no better.

        A refusal is about the form of a value, which others of the same place have too; where the names are `near`, one
        value may be odd. Where an id is accepted, the place is right, whatever else its name says; of a number that is
        no id, that says nothing.
        """
        if any(text in place.values for text in self.accepted):
            return -_TAKEN if self.of_ids else 0.0
        refused = sum(text in place.values for text in self.refused)
        if refused > near and not self.told:
            return None
        lost = sum(text in place.values for text in self.lost)
        return _FAILED * min(3, refused) + _LOST * min(3, lost) + (_TAKEN if self.accepted and self.of_ids else 0.0)


def ranked(
    places: Sequence[Place], protocol: ToolProtocol, argument: ArgumentFacts, popularity: Callable[[Json], int]
) -> Iterator[tuple[float, Value]]:
    """Values from `places` with their distances, nearest first."""
    wanted = argument_name(protocol, argument.name)
    open_places = [
        place
        for place in places
        if (wanted.secret or not (place.secret or place.name.secret))
        and not (place.argument and place.tool == protocol.name)
    ]
    found: list[tuple[float, Value]] = []
    about = nouns_of(protocol)
    for group in _groups(open_places, protocol, argument, wanted):
        found += [(group.distance + _STEP * k, value) for k, value in enumerate(group.values(popularity, about))]
    if is_date(argument):
        found += dates_for(argument, open_places)
    elif wanted.searches:
        found += words_for(protocol, open_places)
    return iter(sorted(found, key=lambda pair: pair[0]))


def _groups(places: Iterable[Place], protocol: ToolProtocol, argument: ArgumentFacts, wanted: Name) -> Iterator[_Group]:
    text = said_of(argument)
    sources = {words_of(hint.tool) for hint in argument.hints if hint.kind == "source"}
    nouns = called(argument)
    good = list(good_values(argument))
    telling = [value for value in good if distinctive(value)]
    lookup = None if good or (named_values(argument.name) and not wanted.identifies) else _lookup(argument, wanted)
    fates = _Fates(
        accepted=frozenset(_texts(argument.accepted)),
        refused=frozenset(_texts(argument.refused)),
        lost=frozenset(_texts(argument.not_found)),
        of_ids=any(map(distinctive, _texts(argument.accepted))) or wanted.identifies,
        told=any(hint.kind in ("type", "range", "enum", "length", "pattern", "format") for hint in argument.hints),
    )
    named: dict[str, _Group] = {}
    strangers: dict[str, _Group] = {}
    tried = sum(value.origin.kind == "response" for value in (*argument.refused, *argument.not_found))
    for place in places:
        apart = _named(place, protocol, wanted, text, sources, nouns)
        # What is said beside an argument that is the id of one thing may well be about another.
        aside = apart is None or (apart > NEAR and wanted.of_another(place.name))
        groups = strangers if aside else named
        if apart is None and not (wanted.searches or wanted.secret):
            apart = _stranger(place, telling, lookup if tried < _STRANGERS_TRIED else None)
        if apart is None or (wanted.own in PAGING and not (apart == EQUAL and place.argument)):
            continue
        fate = fates.of(place, near=groups is named and apart <= NEAR)
        if fate is None:
            continue
        group = groups.setdefault(f"{place.name.key} {place.argument and apart} {fate}", _Group(apart + fate))
        group.distance = min(group.distance, apart + fate)
        group.places.append(place)
    nearest = sorted(strangers.values(), key=lambda group: group.distance)[:_MOST_STRANGERS]
    for group in nearest if any(group.distance < TOLD for group in named.values()) else ():
        group.distance += _NAMED_BEFORE
    for group in (*named.values(), *nearest):
        first = [held.value for place in group.places for held in islice(place.values.values(), 3)]
        if good and not any(alike(value, good) for value in first):
            group.distance += _UNLIKE
        yield group


def _texts(values: Iterable[Value]) -> Iterator[str]:
    return (text_of(value) for held in values for value in scalars(held.value))


def _named(
    place: Place,
    protocol: ToolProtocol,
    wanted: Name,
    text: frozenset[str],
    sources: set[str],
    nouns: Sequence[str],
) -> float | None:
    """How far a place's name is: from the argument's, from the `nouns` that replies call its values, or that of the
    tool that a reply calls their source.
    """
    apart = distance(wanted, place.name, text)
    if apart is None and any(distance(Name(noun, noun), place.name) in (EQUAL, NEAR) for noun in nouns):
        apart = TOLD
    if apart is None and place.name.identifies and words_of(place.tool) in sources:
        apart = TOLD
    if apart is None and wanted.admits and place.secret and place.name.admits:
        apart = TOLD
    if apart is None:
        return None
    return apart + (_OWN if place.tool == protocol.name else 0.0)


def good_values(argument: ArgumentFacts) -> Iterator[Json]:
    """Scalars that are known to be good for an argument, or are called so."""
    for held in argument.accepted:
        yield from scalars(held.value)
    for hint in argument.hints:
        if hint.kind in ("enum", "example", "default"):
            yield from (value for given in hint.values for value in scalars(given))
    for key in ("examples", "enum"):
        listed = argument.declared.get(key)
        yield from (value for given in (listed if isinstance(listed, list) else []) for value in scalars(given))
    for key in ("example", "default", "const"):
        yield from scalars(argument.declared.get(key))


def _stranger(place: Place, telling: Sequence[Json], lookup: float | None) -> float | None:
    """How far a place is whose name says nothing: by values and their look; else by `lookup`, where it holds ids."""
    if place.argument or place.told or place.name.own in PAGING or any(map(is_content, islice(_values_of(place), 3))):
        return None
    if telling:
        if any(text_of(value) in place.values for value in telling):
            return KNOWN
        if any(alike(held.value, telling) for held in islice(place.values.values(), 5)):
            return SHAPED - (0.5 if place.name.identifies else 0.0)
    if lookup is None:
        return None
    # Elements of a list of scalars are names and ids as a rule.
    if place.name.identifies or place.path.endswith("[]"):
        return lookup
    return lookup + 0.5 if all(map(is_id, (held.value for held in islice(place.values.values(), 3)))) else None


def _values_of(place: Place) -> Iterator[Json]:
    return (held.value for held in place.values.values())


def _lookup(argument: ArgumentFacts, wanted: Name) -> float:
    return ANY if wanted.identifies or argument.place == "path" else LAST
