"""Category → tool → API: the hierarchy that agents share, and its parts as text within a prompt's room."""

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
"""Tokens that the instructions of an agent take, and those that are shared out even if the model holds fewer."""
_BEGINNINGS = (400, 160, 80, 40, 0)
"""Characters of a description, from generous to none."""


class ToolPlace(NamedTuple):
    """A tool of the hierarchy (the paper's word for what our documents call a collection)."""

    category: str
    tool: str


@dataclass(frozen=True)
class Hierarchy:
    """The APIs (names of documents) of each tool of each category, in the documents' order.

    A document without a category stands in one that is called like its collection, one without a collection in a tool
    that is called like its category.
    """

    tools: Mapping[str, Mapping[str, tuple[str, ...]]]
    documents: Mapping[str, ToolDocument]

    @classmethod
    def of(cls, documents: Mapping[str, ToolDocument]) -> Hierarchy:
        """The hierarchy of `documents`, by name; each is read once."""
        tools: dict[str, dict[str, list[str]]] = {}
        for name, document in documents.items():
            category = document.category or document.collection or _NO_CATEGORY
            tools.setdefault(category, {}).setdefault(document.collection or category, []).append(
                name
            )
        return cls(
            {c: {tool: tuple(apis) for tool, apis in found.items()} for c, found in tools.items()},
            documents,
        )

    def places(self, categories: Iterable[str] | None = None) -> tuple[ToolPlace, ...]:
        """The tools of `categories`, or of all."""
        chosen = self.tools if categories is None else categories
        return tuple(
            ToolPlace(category, tool) for category in chosen for tool in self.tools[category]
        )

    def apis(self, places: Iterable[ToolPlace]) -> tuple[str, ...]:
        """The APIs of tools."""
        return tuple(api for place in places for api in self.tools[place.category][place.tool])


def resolve_name(name: str, known: Sequence[str]) -> str | None:
    """The one of `known` that `name` means, in any case; its last part is enough (`Latest` for `Parcels/Latest`)."""
    if name in known:
        return name
    wanted = " ".join(name.split()).casefold()
    alike = [one for one in known if one.casefold() == wanted]
    if wanted and not alike:
        alike = [one for one in known if one.casefold().endswith(("/" + wanted, "." + wanted))]
    return alike[0] if len(alike) == 1 else None


class Room(NamedTuple):
    """Tokens of a prompt, and what of them each part may take: of what the instructions leave, a third is for the
    agent's scope, a quarter for the request, a quarter for one result. Earlier turns get what is left.
    """

    prompt: int
    scope: int
    request: int
    result: int

    @classmethod
    def of(cls, prompt_tokens: int) -> Room:
        """The shares of a prompt of so many tokens."""
        free = max(_LEAST, prompt_tokens - _INSTRUCTIONS)
        return cls(prompt_tokens, free // 3, free // 4, free // 4)


def pages(lines: Iterable[str], *, room: int) -> list[list[str]]:
    """Lines in pages of at most `room` tokens, at least one line each; no lines make one empty page."""
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
    """One page of a list (the first is 1), with how many there are where it is not all.

    Raises:
        IndexError: there is no such page.
    """
    all_pages = pages(lines, room=room)
    if not 1 <= number <= len(all_pages):
        raise IndexError(f"there is no page {number}; the list has {len(all_pages)}")
    text = "\n".join(all_pages[number - 1])
    return text if len(all_pages) == 1 else f"{text}\n(page {number} of {len(all_pages)})"


def category_lines(names: Iterable[str], hierarchy: Hierarchy) -> list[str]:
    """A line for each category."""
    return [f"- {name} (tools: {len(hierarchy.tools[name])})" for name in names]


def api_lines(names: Iterable[str], hierarchy: Hierarchy, *, room: int) -> list[str]:
    """A line for each API: its name and as much of its description as leaves room for all; else the name alone."""
    documents = [hierarchy.documents[name] for name in names]
    return _fit_lines(lambda most: [_api_line(document, most) for document in documents], room)


def tools_text(places: Sequence[ToolPlace], hierarchy: Hierarchy, *, room: int) -> str:
    """Tools, each with its APIs, which show what it is for: a collection has no description of its own.

    All descriptions are shown to the same length.
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
    """What is known of an API, as much of it as fits."""
    told = {
        name: f"{name} ({one_text(text)})" if text else name
        for name, text in document.parameters.items()
    }
    parts = {
        "required": "; ".join(told[name] for name in told if name in document.required),
        "optional": "; ".join(told[name] for name in told if name not in document.required),
        "returns": ", ".join(document.returns),
    }
    return clip_to_room(
        "\n".join([_api_line(document, room), *(f"{k}: {v}" for k, v in parts.items() if v)]),
        room=room,
    )


def clip_to_room(text: str, *, room: int) -> str:
    """A text, or as much of its beginning as `room` tokens hold, with how much is left out."""
    most = room * 3
    shown = text
    while tokens_of(shown) > room and most:
        shown = clip_text(text, most)
        most //= 2
    return shown


def _fit_lines(lines: Callable[[int], list[str]], room: int) -> list[str]:
    """The lines with the longest descriptions at which they fit."""
    for most in _BEGINNINGS:
        found = lines(most)
        if sum(tokens_of(line) + 1 for line in found) <= room:
            break
    return found


def _api_line(document: ToolDocument, most: int) -> str:
    """A line about an API with `most` characters of its description; none: its name alone."""
    title = one_text(document.title)
    about = one_text(document.description)
    named = (
        f"- {document.name}"
        if not most or not title or title in document.name
        else f"- {document.name} ({title})"
    )
    cut = "…" if len(about) > most else ""
    return f"{named}: {about[:most]}{cut}" if about and most else named
