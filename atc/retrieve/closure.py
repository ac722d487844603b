"""Dependency closure: the tools that produce the ids which the chosen tools need come along."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from protocols.toolbox import Tool, Toolbox


def with_producers(names: Iterable[str], toolbox: Toolbox, *, k: int) -> tuple[str, ...]:
    """The best of `names` and, behind each, the producers of its required arguments; at most `k` aliases.

    Producers of producers come too. Declared links go before observed and guessed ones, one producer an argument, so
    that where room ends, whole chains have been kept rather than many beginnings.
    """
    ranked = list(names)
    chosen: dict[str, None] = {}
    for name in ranked:
        for alias in _chain(name, toolbox, ranked):
            if len(chosen) < k:
                chosen.setdefault(alias)
    return tuple(chosen)


def _chain(name: str, toolbox: Toolbox, ranked: list[str]) -> list[str]:
    """`name`, its producers, their producers … each once, nearest first."""
    chain = [name]
    for alias in chain:  # grows while it is walked
        chain += [p for p in _producers(toolbox[alias], toolbox, ranked) if p not in chain]
    return chain


def _producers(tool: Tool, toolbox: Toolbox, ranked: list[str]) -> Iterator[str]:
    """For each required argument with links: its best producer, one that is wanted anyway if there is one."""
    trust = {"declared": 0, "observed": 1, "guessed": 2}
    position = {alias: number for number, alias in enumerate(ranked)}
    by_name = {t.protocol.name: t.alias for t in toolbox.values() if t.source == tool.source}
    for argument in sorted(tool.protocol.required):
        producers = {
            by_name[link.tool]: trust[link.support]
            for link in tool.protocol.links
            if link.argument == argument and link.tool in by_name and by_name[link.tool] != tool.alias
        }
        if producers:
            yield min(producers, key=lambda p: (producers[p], position.get(p, len(position)), p))
