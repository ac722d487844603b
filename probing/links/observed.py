"""The links that calls showed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from probing.facts import ToolFacts
from probing.links.evidence import Taker
from probing.links.flow import Flow, Flows, places_for
from probing.pools import Place, Pools
from protocols.protocol import Link

Elsewhere = Literal["refused", "accepted", "untried"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedLink:
    """An argument of the tool `consumer` takes values of a response path of another tool.

    `accepted` and `refused` count the argument's different values that any of its sources holds, by their fate. Where
    it accepted none itself, an argument of the same name in another tool did, and the link's support is *guessed*.
    `elsewhere` says what became of values that look the same and that no source of the argument holds.
    """

    consumer: str
    link: Link
    accepted: int
    refused: int
    elsewhere: Elsewhere


def observed_links(facts: Mapping[str, ToolFacts], pools: Pools) -> list[ObservedLink]:
    """The links that follow from all samples, by consumer and argument; of one argument the best known first."""
    flows = Flows(facts, pools)
    return [link for taker in flows.takers for link in _links(flows, taker)]


def _links(flows: Flows, taker: Taker) -> Iterable[ObservedLink]:
    found = flows.of(taker)
    domain = {text for flow in found for text in flow.source.texts}
    elsewhere = _elsewhere(flows, taker, domain)
    accepted, refused = len(domain & taker.took.keys()), len(domain & taker.refused.keys())
    links: dict[tuple[str, str], ObservedLink] = {}
    for flow in found:
        for place in places_for(taker, flow.source):
            link = Link(
                argument=taker.argument.name,
                tool=place.tool,
                path=place.path,
                support="observed" if accepted else "guessed",
            )
            links[place.tool, place.path] = ObservedLink(
                consumer=taker.tool.name, link=link, accepted=accepted, refused=refused, elsewhere=elsewhere
            )
    order = {key: _rank(taker, key, found) for key in links}
    return [links[key] for key in sorted(links, key=lambda key: order[key])]


def _rank(taker: Taker, key: tuple[str, str], found: list[Flow]) -> tuple[bool, int, bool, str, str]:
    """Named sources first, then places whose own values were accepted most, lists, and names in order."""
    flow, place = next((f, p) for f in found for p in f.source.places if (p.tool, p.path) == key)
    return not flow.named, -_held(place, taker), "[]" not in place.path, place.tool, place.path


def _held(place: Place, taker: Taker) -> int:
    return sum(text in place.values for text in taker.took)


def _elsewhere(flows: Flows, taker: Taker, domain: set[str]) -> Elsewhere:
    fates = flows.contrast(taker, domain)
    return "refused" if False in fates else "accepted" if fates else "untried"
