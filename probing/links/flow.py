"""Which sources feed which arguments, judged by names and values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from probing.facts import ToolFacts
from probing.links.evidence import Source, Taker, sources, takers
from probing.naming import EQUAL, NEAR, distance, said_of
from probing.pools import Place, Pools
from probing.shape import alike, distinctive

_MOST_KNOWN = 0.6
"""Share of a source's values that must be known to suit an argument of another name, where it was not tried itself."""
_IDS = 0.7
"""Share of a source's values that must be ids or codes, where the names do not agree."""
_POSITIONS = frozenset({"latitude", "longitude"})
"""Numbers that name a place; others are amounts, which are made up."""


@dataclass(frozen=True)
class Flow:
    """A source that feeds an argument; `named` where their names agree."""

    taker: Taker
    source: Source
    named: bool


class Flows:
    """The facts about arguments and sources, and what follows from them."""

    def __init__(self, facts: Mapping[str, ToolFacts], pools: Pools) -> None:
        self.takers = [taker for taker in takers(facts) if taker.linkable]
        self.sources = sources(pools)
        self._pools = pools
        self._found: dict[int, list[Flow]] = {}
        self._alike: dict[str, list[Taker]] = defaultdict(list)
        for taker in self.takers:
            if taker.named:
                self._alike[taker.name.key].append(taker)

    def of(self, taker: Taker) -> list[Flow]:
        """The sources that feed an argument: those that its name tells, then those that values alone tell."""
        found = self._direct(taker)
        if taker.name.identifies:
            return found
        mine = {id(flow.source) for flow in found}
        return [*found, *(Flow(taker, s, named=False) for s in self._of_the_same(mine) if not refuses(taker, s))]

    def _direct(self, taker: Taker) -> list[Flow]:
        key = id(taker)
        if key not in self._found:
            open_to = [source for source in self.sources if taker.name.secret or not source.secret]
            named = [source for source in open_to if self.confirmed(taker, source)]
            known = {text for source in named for text in source.texts} | {
                text for one in self.family(taker) for text in one.took
            }
            others = [s for s in open_to if s not in named and self._by_values(taker, s, known)]
            self._found[key] = [
                *(Flow(taker, s, named=True) for s in named),
                *(Flow(taker, s, named=False) for s in others),
            ]
        return self._found[key]

    def _of_the_same(self, mine: set[int]) -> list[Source]:
        """Further sources of the things that those in `mine` hold: an argument named for these things takes both."""
        found: dict[int, Source] = {}
        for other in self.takers:
            flows = self._direct(other)
            if any(id(flow.source) in mine and not flow.named for flow in flows):
                found |= {
                    id(flow.source): flow.source
                    for flow in flows
                    if flow.named and flow.source.name.thing == other.name.thing and flow.source.name.identifies
                }
        return [source for key, source in found.items() if key not in mine]

    def family(self, taker: Taker) -> list[Taker]:
        """The arguments of the same telling name in all tools, itself among them."""
        return self._alike[taker.name.key] if taker.named else [taker]

    def apart(self, taker: Taker, source: Source) -> float | None:
        """How far the names of an argument and a source are apart; `None` where they do not agree, or tell nothing."""
        if not taker.named:
            return None
        return distance(taker.name, source.name, said_of(taker.argument))

    def accepted(self, taker: Taker, source: Source) -> set[str]:
        """The values of a source that the argument, or one of its name, accepted."""
        return {text for one in self.family(taker) for text in source.holds(one.took)}

    def confirmed(self, taker: Taker, source: Source) -> bool:
        """Whether names agree, and values do not speak against it."""
        apart = self.apart(taker, source)
        if apart is None or refuses(taker, source):
            return False
        accepted = self.accepted(taker, source)
        of_ids = taker.name.identifies or source.name.identifies
        if apart > NEAR or (apart > EQUAL and not of_ids):
            return any(map(distinctive, accepted))
        return bool(accepted) and (of_ids or self._chooses(taker, source, accepted))

    def contrast(self, taker: Taker, known: Iterable[str]) -> set[bool]:
        """What became of values from elsewhere that look the same: `True` for accepted ones, `False` for the others."""
        held = set(known)
        models = [value.value for text, value in taker.took.items() if text in held]
        return {
            accepted
            for values, accepted in ((taker.took, True), (taker.refused, False), (taker.missed, False))
            for text, value in values.items()
            if text not in held and alike(value.value, models)
        }

    def _takes_anything(self, taker: Taker) -> bool:
        """Whether an argument accepted a made-up value that no other tool's response holds."""
        made_up = (value.value for value in taker.took.values() if value.origin.kind in ("generated", "model"))
        return any(all(tool == taker.tool.name for tool, _ in self._pools.where(value)) for value in made_up)

    def _chooses(self, taker: Taker, source: Source, accepted: set[str]) -> bool:
        """Whether an argument that is no id by its name picks one thing: it must be given, or refuses what is none.

        Then it does not take what is made up, nor what looks the same and comes from elsewhere.
        """
        if taker.name.own in _POSITIONS:
            return True
        family = self.family(taker)
        needed = any(one.argument.required or one.refused or one.missed for one in family)
        if not needed and not any(map(distinctive, accepted)):
            return False
        return not any(self._takes_anything(one) or self.contrast(one, source.texts) == {True} for one in family)

    def _by_values(self, taker: Taker, source: Source, known: set[str]) -> bool:
        family = self.family(taker)
        texts = source.texts
        if refuses(taker, source) or len(source.ids) < _IDS * len(texts) or any(map(self._takes_anything, family)):
            return False
        accepted = self.accepted(taker, source) & source.ids
        missed = {text for one in family for text in source.holds(one.missed)}
        if not accepted or len(missed) > len(accepted) or any(source.holds(one.refused) for one in family):
            return False
        tested = {text for one in family for text in accepted & one.took.keys() if source.gave(one.took[text])}
        if len(tested) > 1 or (tested and any(self.contrast(one, texts | known) == {False} for one in family)):
            return True
        took = {text for one in family for text in one.took}
        shared = max(len(texts & known) / len(texts), len(accepted) / len(took) if len(accepted) > 2 else 0.0)
        return len(accepted) > 1 and shared >= _MOST_KNOWN


def refuses(taker: Taker, source: Source) -> bool:
    """Whether an argument refused at least as many values of a source as it accepted."""
    refused = source.holds(taker.refused)
    return bool(refused) and len(refused) >= len(source.holds(taker.took))


def places_for(taker: Taker, source: Source) -> list[Place]:
    """The places of a source from which a value may go to an argument: those of other tools."""
    return [place for place in source.places if place.tool != taker.tool.name]
