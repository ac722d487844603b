"""Names, descriptions and details as text for a prompt, within the room that there is.

One rule for all: a list is shown in pages of so many tokens, and says how many there are; of descriptions the beginning
is shown, as long as all that was asked for finds room.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from atc.retrieve.document import ToolDocument
from atc.retrieve.hierarchy.agent import Agent
from atc.retrieve.hierarchy.budget import tokens_of
from atc.retrieve.hierarchy.tree import Hierarchy, Place
from protocols.abridge import clipped

_BEGINNINGS = (400, 160, 80, 40)
"""Characters of a description, from generous to terse."""


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


def groups(names: Sequence[str], lines: Iterable[str], *, room: int) -> list[tuple[tuple[str, ...], str]]:
    """Names, and the lines that show them (one each), in groups of at most `room` tokens; no names make no group."""
    found: list[tuple[tuple[str, ...], str]] = []
    start = 0
    for shown in pages(lines, room=room) if names else []:
        found.append((tuple(names[start : start + len(shown)]), "\n".join(shown)))
        start += len(shown)
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


def api_lines(names: Iterable[str], hierarchy: Hierarchy, *, room: int) -> list[str]:
    """A line for each API: its name and as much of its description as leaves room for all; else the name alone."""
    documents = [hierarchy.documents[name] for name in names]
    for most in _BEGINNINGS:
        lines = [_described(document, most) for document in documents]
        if sum(tokens_of(line) + 1 for line in lines) <= room:
            return lines
    return [f"- {document.name}" for document in documents]


def scope(agent: Agent, hierarchy: Hierarchy, *, room: int) -> str:
    """What an agent may search, as its task shows it: categories, the tools of one, or tools with their APIs."""
    match agent.role:
        case "meta" | "flat":
            return "\n".join(["Categories:", *category_lines(agent.categories, hierarchy)])
        case "category":
            lines = [f"- {place.tool}" for place in agent.places]
            return f"Tools of the category {agent.categories[0]}:\n{page(lines, 1, room=room)}"
        case _:
            return f"Tools and their APIs:\n{tools_text(agent.places, hierarchy, room=room)}"


def category_lines(names: Iterable[str], hierarchy: Hierarchy) -> list[str]:
    """A line for each category."""
    return [f"- {name} (tools: {len(hierarchy.tools[name])})" for name in names]


def tools_text(places: Sequence[Place], hierarchy: Hierarchy, *, room: int) -> str:
    """Tools, each with its APIs, which tell what it is for: a collection has no description of its own.

    All descriptions are shown to the same length. Where even the names alone do not fit, each tool gets an equal share.
    """
    for most in (*_BEGINNINGS, 0):
        texts = [_tool(place, hierarchy, most) for place in places]
        if sum(tokens_of(text) + 1 for text in texts) <= room:
            return "\n".join(texts)
    share = room // max(1, len(places))
    return "\n".join(_cut(_tool(place, hierarchy, 0), room=share) for place in places)


def detail_text(document: ToolDocument, *, room: int) -> str:
    """Everything that is known of an API, each part from its beginning."""
    optional = [name for name in document.parameters if name not in document.required]
    parts = {
        "description": plain(document.description),
        "required": "; ".join(_parameter(document, name) for name in document.required),
        "optional": "; ".join(_parameter(document, name) for name in optional),
        "returns": ", ".join(document.returns),
    }
    lines = [f"{key}: {value}" for key, value in parts.items() if value]
    most = max(40, room * 3 // max(1, len(lines)))
    return within("\n".join([_titled(document), *(_beginning(line, most) for line in lines)]), room=room)


def within(text: str, *, room: int) -> str:
    """A text, or as much of its beginning as `room` tokens hold, with how much is left out."""
    most = room * 3
    shown = text
    while tokens_of(shown) > room and most:
        shown = clipped(text, most)
        most //= 2
    return shown


def plain(text: str) -> str:
    """A text on one line."""
    return " ".join(text.split())


def _beginning(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def _parameter(document: ToolDocument, name: str) -> str:
    said = plain(document.parameters.get(name, ""))
    return f"{name} ({_beginning(said, 80)})" if said else name


def _tool(place: Place, hierarchy: Hierarchy, most: int) -> str:
    names = hierarchy.tools[place.category][place.tool]
    lines = [_described(hierarchy.documents[name], most) if most else f"- {name}" for name in names]
    return "\n".join([f"{place.tool} ({place.category}), APIs: {len(names)}", *lines])


def _cut(text: str, *, room: int) -> str:
    """The first lines of a text that fit, and how many more there are."""
    lines = text.splitlines()
    shown = pages(lines, room=room)[0]
    return text if len(shown) == len(lines) else "\n".join([*shown, f"… {len(lines) - len(shown)} more"])


def _titled(document: ToolDocument) -> str:
    title = plain(document.title)
    return f"- {document.name}" if not title or title in document.name else f"- {document.name} ({title})"


def _described(document: ToolDocument, most: int) -> str:
    said = plain(document.description)
    return f"{_titled(document)}: {_beginning(said, most)}" if said else _titled(document)
