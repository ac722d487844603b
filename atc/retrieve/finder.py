"""What a search is to a user: a method, with names first, producers behind, and nothing where nothing fits."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from atc.retrieve.base import Hit, Retrieval, Retriever
from atc.retrieve.closure import with_producers
from protocols.toolbox import Toolbox

_WORD = re.compile(r"\w+")
NOTHING_FITS = "nothing fits: "
"""How the line of a transcript begins that tells of an abstention."""
_MANY = 100
"""Hits of which the closure chooses: a producer that fits the query, too, goes before one that does not."""
_SPELLED = re.compile(r"[_\d]|[a-z][A-Z]")
"""What ordinary words do not have: a name that has it is meant as one."""


@dataclass(frozen=True, kw_only=True)
class Finder:
    """A retriever over a toolbox: finds by `method`, then keeps the promises that hold for every method.

    A tool that the query names stands first. With `closure`, the producers of ids that the found tools need come along,
    within `k`. `fits`, where there is one, is asked with the query and what was found whether any of it fits; a tool
    that is named always does.
    """

    toolbox: Toolbox
    method: Retriever
    common: Callable[[str], bool]
    """Whether a word stands in the documents of tools that are not named by it."""
    closure: bool = True
    fits: Callable[[str, Retrieval], bool] | None = None

    def search(self, query: str, *, k: int) -> Retrieval:
        """At most `k` tools, see `Retriever.search`."""
        named = self._named(query)
        found = self.method.search(query, k=max(k, _MANY) if self.closure else k)
        others = [hit for hit in found.hits if hit.tool not in named]
        notes = list(found.transcript)
        if others and not named and self.fits is not None and not self.fits(query, found):
            notes.append(f"{NOTHING_FITS}{others[0].tool} is nearest, and not near enough")
            others = []
        scores = [hit.score for hit in found.hits] or [0.0]
        above = max(scores) + max(max(scores) - min(scores), 1.0)
        hits = [*(Hit(name, above - number / 1000, "named") for number, name in enumerate(named)), *others]
        chosen = with_producers(hits, self.toolbox, k=k) if self.closure else hits[:k]
        return replace(found, hits=tuple(chosen), transcript=tuple(notes))

    def _named(self, query: str) -> list[str]:
        """The tools whose names stand in the query as names, in its order.

        An ordinary word that other tools use too (`search`) is a name only where it is all that is asked, or quoted.
        """
        named: dict[str, None] = {}
        for word in _WORD.finditer(query):
            name = word.group()
            if name not in self.toolbox:
                continue
            around = query[word.start() - 1 : word.start()] + query[word.end() : word.end() + 1]
            meant = (
                query.strip() == name or _SPELLED.search(name) or around in {"``", '""', "''"} or around.endswith("(")
            )
            if meant or not self.common(name):
                named[name] = None
        return list(named)
