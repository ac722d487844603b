"""AnyTool's hierarchy of category → tool → API, and texts about it that fit into a prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from atc.pipeline.retrieve.document import ToolDocument
from atc.pipeline.retrieve.model_replies import one_text, tokens_of
from protocols.truncate import clip_text

_NO_CATEGORY = "general"
_INSTRUCTIONS = 500
_LEAST = 300
"""Minimum number of tokens for the rest of a prompt, even if the model's context is smaller.

`_INSTRUCTIONS` is the number of tokens that an agent's instructions take.
"""
_BEGINNINGS = (400, 160, 80, 40, 0)
"""Lengths to which descriptions may be cut, in characters. The longest that fits is used."""


class CategorizedTool(NamedTuple):
    """A tool of AnyTool's hierarchy, with its category.

    AnyTool's paper calls "tool" what a `ToolDocument` calls a collection: a group of APIs.
    """

    category: str
    tool: str


@dataclass(frozen=True)
class Hierarchy:
    """AnyTool's hierarchy: the tools of each category, and the APIs of each tool.

    An API is the name of a document; APIs are in the order of the documents. A document without a
    category belongs to a category named after its collection. A document without a collection
    belongs to a tool named after its category.
    """

    tools: Mapping[str, Mapping[str, tuple[str, ...]]]
    documents: Mapping[str, ToolDocument]

    @classmethod
    def of(cls, documents: Mapping[str, ToolDocument]) -> Hierarchy:
        """Build the hierarchy of `documents`, which are keyed by their names.

        Each document is read once.
        """
        tools: dict[str, dict[str, list[str]]] = {}
        for name, document in documents.items():
            category = document.category or document.collection or _NO_CATEGORY
            tools.setdefault(category, {}).setdefault(document.collection or category, []).append(
                name
            )
        frozen = {}
        for category, collections in tools.items():
            frozen[category] = {tool: tuple(apis) for tool, apis in collections.items()}
        return cls(frozen, documents)

    def places(self, categories: Iterable[str] | None = None) -> tuple[CategorizedTool, ...]:
        """Return the tools of `categories`, each with its category; None means all categories."""
        chosen = self.tools if categories is None else categories
        return tuple(
            CategorizedTool(category, tool) for category in chosen for tool in self.tools[category]
        )

    def apis(self, places: Iterable[CategorizedTool]) -> tuple[str, ...]:
        """Return the names of the APIs that the tools `places` have."""
        return tuple(api for place in places for api in self.tools[place.category][place.tool])


def resolve_name(name: str, known: Sequence[str]) -> str | None:
    """Return the one name in `known` that `name` refers to, or None.

    Case is ignored, and the last part of a name is enough (`Latest` for `Parcels/Latest`). The
    result is None if no name or several names match.
    """
    if name in known:
        return name
    wanted = " ".join(name.split()).casefold()
    alike = [one for one in known if one.casefold() == wanted]
    if wanted and not alike:
        alike = [one for one in known if one.casefold().endswith(("/" + wanted, "." + wanted))]
    return alike[0] if len(alike) == 1 else None


class Room(NamedTuple):
    """Maximum numbers of tokens for a prompt of an agent, and for each part of the prompt.

    Of the tokens that the instructions leave, a third is for the list of categories or tools that
    the agent may choose from (`scope`), a quarter for the request and a quarter for the result of
    one function call. Earlier messages of the conversation get the rest.
    """

    prompt: int
    scope: int
    request: int
    result: int

    @classmethod
    def of(cls, prompt_tokens: int) -> Room:
        """Divide a prompt of at most `prompt_tokens` tokens into its parts."""
        free = max(_LEAST, prompt_tokens - _INSTRUCTIONS)
        return cls(prompt_tokens, free // 3, free // 4, free // 4)


def pages(lines: Iterable[str], *, room: int) -> list[list[str]]:
    """Split lines of text into pages of at most `room` tokens.

    Each page has at least one line, even a longer one. Without lines there is one empty page.
    """
    found: list[list[str]] = [[]]
    used = 0
    for line in lines:
        tokens = tokens_of(line) + 1
        if found[-1] and used + tokens > room:
            found.append([])
            used = 0
        found[-1].append(line)
        used += tokens
    return found


def page(lines: Sequence[str], number: int, *, room: int) -> str:
    """Return the text of one page of a list. A page has at most `room` tokens.

    Pages are numbered from 1. If there are several pages, a line with the number of pages is
    appended.

    Raises:
        IndexError: there is no such page.
    """
    all_pages = pages(lines, room=room)
    if not 1 <= number <= len(all_pages):
        raise IndexError(f"there is no page {number}; the list has {len(all_pages)}")
    text = "\n".join(all_pages[number - 1])
    return text if len(all_pages) == 1 else f"{text}\n(page {number} of {len(all_pages)})"


def category_lines(names: Iterable[str], hierarchy: Hierarchy) -> list[str]:
    """Return one line for each category: its name and how many tools it has."""
    return [f"- {name} (tools: {len(hierarchy.tools[name])})" for name in names]


def api_lines(names: Iterable[str], hierarchy: Hierarchy, *, room: int) -> list[str]:
    """Return one line for each API: its name and description.

    Descriptions are shortened equally until all lines fit into `room` tokens, if necessary to the
    name alone.
    """
    documents = [hierarchy.documents[name] for name in names]
    return _fit_lines(lambda most: [_api_line(document, most) for document in documents], room)


def tools_text(places: Sequence[CategorizedTool], hierarchy: Hierarchy, *, room: int) -> str:
    """Return a text that lists tools, each with its APIs, in at most `room` tokens.

    The APIs show a tool's purpose, because collections have no description. All descriptions are
    cut to the same length.
    """

    def lines(most: int) -> list[str]:
        found = []
        for place in places:
            apis = hierarchy.tools[place.category][place.tool]
            found.append(f"{place.tool} ({place.category}), APIs: {len(apis)}")
            found += [_api_line(hierarchy.documents[name], most) for name in apis]
        return found

    return clip_to_room("\n".join(_fit_lines(lines, room)), room=room)


def detail_text(document: ToolDocument, *, room: int) -> str:
    """Return a text with all that is known about an API, cut to `room` tokens."""
    described = {
        name: f"{name} ({one_text(text)})" if text else name
        for name, text in document.parameters.items()
    }
    parts = {
        "required": "; ".join(described[name] for name in described if name in document.required),
        "optional": "; ".join(
            described[name] for name in described if name not in document.required
        ),
        "returns": ", ".join(document.returns),
    }
    return clip_to_room(
        "\n".join([_api_line(document, room), *(f"{k}: {v}" for k, v in parts.items() if v)]),
        room=room,
    )


def clip_to_room(text: str, *, room: int) -> str:
    """Cut a text to `room` tokens, and append a note that says how much was left out.

    A text that is short enough is returned unchanged.
    """
    most = room * 3
    shown = text
    while tokens_of(shown) > room and most:
        shown = clip_text(text, most)
        most //= 2
    return shown


def _fit_lines(lines: Callable[[int], list[str]], room: int) -> list[str]:
    """Return lines whose descriptions are as long as the limit of `room` tokens allows.

    `lines(most)` returns the lines with each description cut to `most` characters. If the lines
    never fit, those with the shortest descriptions are returned.
    """
    for most in _BEGINNINGS:
        found = lines(most)
        if sum(tokens_of(line) + 1 for line in found) <= room:
            break
    return found


def _api_line(document: ToolDocument, most: int) -> str:
    """Return a line about an API with the first `most` characters of its description.

    If `most` is 0, the line has only the name.
    """
    title = one_text(document.title)
    about = one_text(document.description)
    named = (
        f"- {document.name}"
        if not most or not title or title in document.name
        else f"- {document.name} ({title})"
    )
    cut = "…" if len(about) > most else ""
    return f"{named}: {about[:most]}{cut}" if about and most else named
