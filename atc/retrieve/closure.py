"""Dependency closure: the tools that produce the ids which the chosen tools need come along, marked as such."""

from __future__ import annotations

from collections.abc import Sequence

from atc.retrieve.base import Hit
from protocols.producers import Producers
from protocols.toolbox import Toolbox


def with_producers(hits: Sequence[Hit], toolbox: Toolbox, *, k: int) -> tuple[Hit, ...]:
    """The best of `hits` and, behind each, the producers of its arguments; at most `k`, each tool once.

    Producers of producers come too, so that where room ends, whole chains have been kept rather than many beginnings.
    Producers of optional arguments come last of all: a filter by an id is of use only with the id. A tool that comes
    for another's sake has that one's score, and says so in `why`.
    """
    producers = Producers(toolbox)
    ranked = [hit.tool for hit in hits]
    own = {hit.tool: hit for hit in hits}
    chosen: dict[str, Hit] = {}
    for hit in hits:
        for link in _chain(hit, toolbox, producers, wanted=[*chosen, *ranked]):
            chosen.setdefault(link.tool, own.get(link.tool, link))
    kept = dict(list(chosen.items())[:k])
    for hit in list(kept.values()):
        tool = toolbox[hit.tool]
        for argument in sorted(set(tool.protocol.parameters) - tool.protocol.required):
            found = [p.tool for p in producers.of(tool, argument, wanted=list(kept))]
            if found and not set(found) & set(kept):
                kept[found[0]] = Hit(found[0], hit.score, _why(hit.tool, argument))
    return tuple(kept.values())[:k]


def _chain(hit: Hit, toolbox: Toolbox, producers: Producers, *, wanted: Sequence[str]) -> list[Hit]:
    """`hit`, its producers, their producers … each once, nearest first."""
    chain = [hit]
    for link in chain:  # grows while it is walked
        tool = toolbox[link.tool]
        for argument in sorted(tool.protocol.required):
            found = [p.tool for p in producers.of(tool, argument, wanted=wanted)]
            if found and not set(found) & {one.tool for one in chain}:
                chain.append(Hit(found[0], hit.score, _why(link.tool, argument)))
    return chain


def _why(tool: str, argument: str) -> str:
    return f"producer of {tool}({argument})"
