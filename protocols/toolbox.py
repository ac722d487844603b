"""`Toolbox`, a set of tools.

Programs call a tool by its *alias*, a unique Python identifier.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from protocols.effects import may_be_meant
from protocols.errors import InvalidProtocol, UnknownTool
from protocols.naming import (
    FreeNames,
    closest_meanings,
    tool_aliases,
)
from protocols.protocol import EvidenceLevel
from protocols.schema import parse_path
from protocols.tool import Tool

_MOST_SIMILAR = 10
"""Maximum number of similar names that are considered for the suggestions of an error."""


class Toolbox(Mapping[str, Tool]):
    """Tools, keyed by alias, in the order of their sources.

    Immutable: `only` and `+` return new toolboxes.
    """

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        named: dict[tuple[str, str], Tool] = {}
        for tool in tools:
            name = tool.protocol.name
            source = tool.source
            if (name, source) in named:
                hint = "Rename one of them; a name may repeat only across sources."
                raise InvalidProtocol(
                    source or "toolbox", f"two tools are named {name!r}.", hint=hint
                )
            named[name, source] = tool
        aliases = tool_aliases(list(named))
        self._tools = {
            a: replace(tool, alias=a) for a, tool in zip(aliases, named.values(), strict=True)
        }
        self._whole = self

    def _copy_with(self, tools: Iterable[Tool]) -> Toolbox:
        """Return a toolbox that has these tools, with unchanged aliases.

        It remembers the complete toolbox from which this one was selected.
        """
        box = Toolbox()
        box._tools = {tool.alias: tool for tool in tools}
        box._whole = self._whole
        return box

    def __getitem__(self, alias: str) -> Tool:
        return self._tools[alias]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def __add__(self, other: Toolbox) -> Toolbox:
        return Toolbox([*self._tools.values(), *other._tools.values()])

    def __repr__(self) -> str:
        return f"Toolbox({', '.join(self._tools)})"

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about what of the sources and of their results is left out.

        They may become more while tools are called. If this toolbox was selected from a larger one,
        they are about the larger one.
        """
        return self._sentences("notes")

    @property
    def repairs(self) -> tuple[str, ...]:
        """Sentences about mistakes in the schemas of tools, which were dropped."""
        return self._sentences("repairs")

    def _sentences(self, kind: str) -> tuple[str, ...]:
        tools = self._whole._tools.values()  # noqa: SLF001 - another toolbox
        found = (getattr(tool.call, kind, ()) for tool in tools)
        return tuple(dict.fromkeys(sentence for each in found for sentence in each))

    def find(self, name: str, *, suggest: bool = True) -> Tool:
        """Return the tool with this alias, or with another name that settings may use for it.

        Raises:
            UnknownTool: no tool or more than one matches. The error suggests the nearest names,
                unless `suggest` is false.
        """
        if name in self._tools:
            return self._tools[name]
        named = self._by_name.get(name, [])
        if len(named) == 1:
            return named[0]
        if named or not suggest:
            raise UnknownTool(name, [tool.alias for tool in named] if suggest else ())
        close = closest_meanings(name, list(self._tools), most=_MOST_SIMILAR, cutoff=0.5)
        meant = [alias for alias in close if may_be_meant(name, self._tools[alias].protocol)]
        raise UnknownTool(name, meant)

    def find_all(self, name: str) -> list[Tool]:
        """Return all tools that a setting may mean by `name`; see `Tool.names`.

        If this toolbox was selected from a larger one, the larger one is searched. So a selection
        cannot make an ambiguous name unambiguous.
        """
        whole = self._whole._by_name  # noqa: SLF001 - another toolbox
        found = whole.get(name) or self._by_name.get(name, [])
        exact = [tool for tool in found if tool.qualified == name]
        return exact if exact and len({tool.source for tool in found}) == 1 else found

    def shortest_name(self, tool: Tool) -> str:
        """Return the shortest name by which a setting can refer to this tool and to no other."""
        aliases = [found.alias for found in self.find_all(tool.alias)]
        return tool.alias if aliases == [tool.alias] else tool.qualified

    @cached_property
    def _by_name(self) -> Mapping[str, list[Tool]]:
        found: dict[str, list[Tool]] = {}
        for tool in self._tools.values():
            for name in tool.names:
                found.setdefault(name, []).append(tool)
        return found

    @cached_property
    def _by_origin(self) -> Mapping[tuple[str, str], Tool]:
        return {(tool.source, tool.protocol.name): tool for tool in self._tools.values()}

    def only(self, names: Iterable[str]) -> Toolbox:
        """Return a toolbox with the tools of these names, in this order, with unchanged aliases.

        Raises:
            UnknownTool: one of them is not in this toolbox.
        """
        return self._copy_with(map(self.find, names))

    def also(self, tools: Iterable[Tool]) -> Toolbox:
        """Return a copy of this toolbox with `tools` added.

        A tool whose alias is taken gets an alias with a number. Unlike `+`, this keeps the aliases
        of this toolbox.
        """
        free = FreeNames(self._tools)
        return self._copy_with(
            [*self._tools.values(), *(replace(tool, alias=free(tool.alias)) for tool in tools)]
        )

    def map(self, change: Callable[[Tool], Tool]) -> Toolbox:
        """Return a toolbox with each tool replaced by `change(tool)`, with unchanged aliases."""
        return self._copy_with(map(change, self._tools.values()))

    def verifier(self, tool: Tool) -> Tool | None:
        """Return the read-only tool of the same source that shows what `tool` wrote, or None.

        If this toolbox was selected from a larger one, the result may be outside of the selection.
        """
        declared = tool.protocol.verified_by
        if declared is None:
            return None
        tools = self._whole._by_origin  # noqa: SLF001 - another toolbox
        read = tools.get((tool.source, declared.tool))
        return read if read is not None and not read.protocol.writes else None

    def producers(self, tool: Tool, argument: str) -> list[Producer]:
        """Return the tools whose responses have values for an argument of `tool`, best first.

        `argument` is the original name of the argument. Tools with a declared link come before
        tools with an observed or a guessed one. Tools with the same kind of link are sorted by the
        number of arguments that other tools must provide, and then by the order of their links.
        """
        best: dict[str, Producer] = {}
        for link in tool.protocol.links:
            other = self._by_origin.get((tool.source, link.tool))
            if link.argument == argument and other is not None and other.alias != tool.alias:
                best.setdefault(other.alias, Producer(other, link.path, link.support))
        return sorted(
            best.values(),
            key=lambda producer: (_TRUST[producer.support], self._needs(producer.tool)),
        )

    def _needs(self, tool: Tool) -> int:
        """Return the number of required arguments of a tool that need values from other tools.

        Only tools of this toolbox are counted as sources of values.
        """
        linked = {
            link.argument
            for link in tool.protocol.links
            if (tool.source, link.tool) in self._by_origin
        }
        return len(tool.protocol.required & linked)


_TRUST: dict[EvidenceLevel, int] = {"declared": 0, "observed": 1, "guessed": 2}


def format_subscript(key: str) -> str:
    """Return the Python code of a subscript for a key: `["code"]` for `code`.

    The key is escaped, so that it cannot end the string.
    """
    return f"[{json.dumps(key, ensure_ascii=False)}]"


class Producer(NamedTuple):
    """A tool whose response has values for an argument of another tool.

    `path` is the path of the values in the response (`airports[].code`). `support` says how this is
    known: declared in a document, observed in responses, or guessed.
    """

    tool: Tool
    path: str
    support: EvidenceLevel

    def expression(self, *, arguments: str = "…") -> str:
        """Return Python code that calls the tool and reads a value.

        For example `search_airports(…)[0]["code"]`. `arguments` is the text between the parentheses
        of the call.
        """
        path = parse_path(self.path)
        if self.tool.wrapper is not None and path[:1] == [self.tool.wrapper]:
            path = path[1:]
        read = "".join("[0]" if isinstance(step, int) else format_subscript(step) for step in path)
        return f"{self.tool.alias}({arguments}){read}"

    @property
    def perhaps(self) -> str:
        """The word `perhaps ` if the link is only guessed, else "". Sentences begin with it."""
        return "perhaps " if self.support == "guessed" else ""
