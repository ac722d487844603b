"""The first rival of AnyTool (§5.2, A.4): one agent that reads the whole catalogue, group after group."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Literal

from atc.retrieve.base import Retrieval
from atc.retrieve.document import ToolDocument
from atc.retrieve.hierarchy.listing import detail_text, groups, plain
from atc.retrieve.hierarchy.options import Options
from atc.retrieve.hierarchy.search import Search
from atc.retrieve.hierarchy.tree import Hierarchy
from protocols.ask import Ask

Shows = Literal["names", "descriptions", "details"]

_GROUP: Mapping[Shows, int] = {"names": 500, "descriptions": 100, "details": 50}
"""APIs of a group, as in Table 10."""
_DESCRIPTION = 300
_DETAIL_TOKENS = 200


class PlainAgent:
    """A `Retriever`: groups of 500 APIs are shown to an agent, one after another, which adds to a pool.

    It sees the names of tools and APIs (`shows`: with descriptions in groups of 100, with details in groups of 50).
    What was added is checked as in AnyTool, and the search ends where it suffices. Where a group does not fit half of
    the model's prompt it is cut into several.
    """

    def __init__(
        self,
        documents: Mapping[str, ToolDocument],
        ask: Ask,
        *,
        shows: Shows = "names",
        options: Options = Options(),  # noqa: B008
    ) -> None:
        if shows not in _GROUP:
            raise ValueError(f"the plain agent shows {', '.join(_GROUP)}, not {shows!r}")
        self._documents, self._ask, self._shows, self._options = documents, ask, shows, options
        self._room = max(300, (options.prompt_tokens or ask.prompt_tokens) // 2)

    def search(self, query: str, *, k: int) -> Retrieval:
        """The first `k` APIs of the pool, see `Retriever.search`.

        Raises:
            ModelUnavailable: the model did not answer.
        """
        search = Search(query, self._hierarchy, self._ask, options=self._options)
        for names, listed in self._groups:
            search.add_agent("plain", apis=names, listed=f"APIs:\n{listed}")
            search.run()
            if search.ended != "done":
                break
        return search.retrieval(k=k)

    @cached_property
    def _hierarchy(self) -> Hierarchy:
        return Hierarchy.of(self._documents)

    @cached_property
    def _groups(self) -> list[tuple[tuple[str, ...], str]]:
        """The names of each group and the text that shows them, in the order of the hierarchy."""
        names = self._hierarchy.apis(self._hierarchy.places())
        most = _GROUP[self._shows]
        found: list[tuple[tuple[str, ...], str]] = []
        for start in range(0, len(names), most):
            some = names[start : start + most]
            found += groups(some, map(self._line, some), room=self._room)
        return found

    def _line(self, name: str) -> str:
        document = self._documents[name]
        if self._shows == "details":
            return detail_text(document, room=_DETAIL_TOKENS)
        tool = document.collection
        line = f"- {name}" if not tool or tool in name else f"- {name} ({tool})"
        said = plain(document.description)[:_DESCRIPTION]
        return f"{line}: {said}" if said and self._shows == "descriptions" else line
