"""Dependency closure: the tools that produce the ids which the chosen tools need come along, marked as such."""

from __future__ import annotations

from collections.abc import Sequence

from atc.retrieve.base import Hit
from protocols.producers import Producers
from protocols.toolbox import Toolbox

_LEAST = 1e-9
"""A rise that counts: where two tools produce for each other, rises get smaller without end."""


def with_producers(hits: Sequence[Hit], toolbox: Toolbox, *, k: int) -> tuple[Hit, ...]:
    """The `k` best of `hits` and of the producers of their arguments, best first, ties by name.

    A producer is worth the mean of its own score and that of the tool whose argument it yields, where that is more than
    its own: what a good hit needs and what fits the query too comes first, and no number has to be chosen. So do the
    producers of producers. A tool that is not among `hits` has the score of the last of them; give more hits than `k`,
    so that producers can be told apart. What rose for another's sake says so in `why`.
    """
    producers = Producers(toolbox)
    own = {hit.tool: hit.score for hit in hits}
    found = {hit.tool: hit for hit in hits}
    least = min((hit.score for hit in hits), default=0.0)
    front = [hit.tool for hit in hits[:k]]
    while front:
        risen: dict[str, None] = {}
        for name in front:
            for argument in sorted(toolbox[name].protocol.parameters):
                for producer in producers.of(toolbox[name], argument):
                    worth = (own.get(producer.tool, least) + found[name].score) / 2
                    if producer.tool not in found or worth > found[producer.tool].score + _LEAST:
                        found[producer.tool] = Hit(producer.tool, worth, f"producer of {name}({argument})")
                        risen[producer.tool] = None
        front = list(risen)
    return tuple(sorted(found.values(), key=lambda hit: (-hit.score, hit.tool))[:k])
