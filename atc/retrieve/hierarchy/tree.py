"""Category → tool → API: the hierarchy that the agents divide among themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NamedTuple

from atc.retrieve.document import ToolDocument

_TOOL_OF_A_CATEGORY = 20
"""So many APIs of a category that name no tool still make one tool together."""
_NO_CATEGORY = "general"
_MOST_COMPARED = 5000
"""Names that a misspelt one is compared with at most; more would take seconds."""


class Place(NamedTuple):
    """A tool of the hierarchy (the paper's word for what our documents call a collection)."""

    category: str
    tool: str


@dataclass(frozen=True)
class Hierarchy:
    """The APIs (names of documents) of each tool of each category, in the documents' order.

    A document without a category stands in one that is called like its collection. Documents without a collection
    make one tool called like their category where they are at most 20; of more, each is a tool of its own.
    """

    tools: Mapping[str, Mapping[str, tuple[str, ...]]]
    documents: Mapping[str, ToolDocument]

    @classmethod
    def of(cls, documents: Mapping[str, ToolDocument]) -> Hierarchy:
        """The hierarchy of `documents`, by name; each is read once."""
        tools: dict[str, dict[str, list[str]]] = {}
        loose: dict[str, list[str]] = {}
        for name, document in documents.items():
            category = document.category or document.collection or _NO_CATEGORY
            of_category = tools.setdefault(category, {})
            if document.collection:
                of_category.setdefault(document.collection, []).append(name)
            else:
                loose.setdefault(category, []).append(name)
        for category, names in loose.items():
            together = len(names) <= _TOOL_OF_A_CATEGORY
            for name in names:
                tools[category].setdefault(category if together else name, []).append(name)
        return cls(
            {category: {tool: tuple(apis) for tool, apis in held.items()} for category, held in tools.items()},
            documents,
        )

    def places(self, categories: Iterable[str] | None = None) -> tuple[Place, ...]:
        """The tools of `categories`, or of all."""
        chosen = self.tools if categories is None else categories
        return tuple(Place(category, tool) for category in chosen for tool in self.tools[category])

    def apis(self, places: Iterable[Place]) -> tuple[str, ...]:
        """The APIs of tools."""
        return tuple(api for place in places for api in self.tools[place.category][place.tool])


def spelled(name: str, known: Sequence[str]) -> str | None:
    """The one of `known` that `name` means, in any case; its last part is enough (`Latest` for `Parcels/Latest`)."""
    if name in known:
        return name
    wanted = " ".join(name.split()).casefold()
    alike = [one for one in known if one.casefold() == wanted]
    if wanted and not alike:
        alike = [one for one in known if one.casefold().endswith(("/" + wanted, "." + wanted))]
    return alike[0] if len(alike) == 1 else None


def nearest(name: str, known: Sequence[str]) -> list[str]:
    """At most three of `known` that are spelled nearly like `name`."""
    return get_close_matches(name, known, n=3, cutoff=0.5) if len(known) <= _MOST_COMPARED else []
