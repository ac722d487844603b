"""Dependency closure: the tools that produce the ids which the chosen tools need come along."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from protocols.producers import Producers
from protocols.toolbox import Toolbox


def with_producers(names: Iterable[str], toolbox: Toolbox, *, k: int) -> tuple[str, ...]:
    """The best of `names` and, behind each, the producers of its arguments; at most `k` aliases.

    Producers of producers come too, so that where room ends, whole chains have been kept rather than many beginnings.
    Producers of optional arguments come last of all: a filter by an id is of use only with the id.
    """
    producers = Producers(toolbox)
    ranked = list(names)
    chosen: dict[str, None] = {}
    for name in ranked:
        chosen |= dict.fromkeys(_chain(name, toolbox, producers, wanted=[*chosen, *ranked]))
    kept = list(chosen)[:k]
    for name in list(kept):
        tool = toolbox[name]
        for argument in sorted(set(tool.protocol.parameters) - tool.protocol.required):
            found = [p.tool for p in producers.of(tool, argument, wanted=kept)]
            if found and not set(found) & set(kept):
                kept.append(found[0])
    return tuple(kept[:k])


def _chain(name: str, toolbox: Toolbox, producers: Producers, *, wanted: Sequence[str]) -> list[str]:
    """`name`, its producers, their producers … each once, nearest first."""
    chain = [name]
    for alias in chain:  # grows while it is walked
        tool = toolbox[alias]
        for argument in sorted(tool.protocol.required):
            found = [p.tool for p in producers.of(tool, argument, wanted=wanted)]
            if found and not set(found) & set(chain):
                chain.append(found[0])
    return chain
