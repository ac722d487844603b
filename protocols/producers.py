"""Which tool yields the values of which argument, read from the links of a toolbox's protocols."""

from __future__ import annotations

from dataclasses import dataclass

from protocols.protocol import EvidenceLevel
from protocols.schema import steps
from protocols.toolbox import Tool, Toolbox

_TRUST: dict[EvidenceLevel, int] = {"declared": 0, "observed": 1, "guessed": 2}


@dataclass(frozen=True, slots=True)
class Producer:
    """A tool (by alias) whose response holds values of an argument, at `path` (`airports[].code`)."""

    tool: str
    path: str
    support: EvidenceLevel


class Producers:
    """The links of a toolbox as a graph from arguments to the tools that yield them."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox
        self._alias = {(tool.source, tool.protocol.name): tool.alias for tool in toolbox.values()}

    def of(self, tool: Tool, argument: str) -> list[Producer]:
        """Producers of an argument (by its original name), the best first; one a tool.

        Better known links go first; then tools that need no produced value themselves (a search by words); then in name
        order.
        """
        best: dict[str, Producer] = {}
        for link in tool.protocol.links:
            alias = self._alias.get((tool.source, link.tool))
            if link.argument == argument and alias is not None and alias != tool.alias:
                best.setdefault(alias, Producer(alias, link.path, link.support))
        needs: dict[str, int] = {}
        for alias in best:
            other = self._toolbox[alias]
            linked = {link.argument for link in other.protocol.links if (other.source, link.tool) in self._alias}
            needs[alias] = len(other.protocol.required & linked)
        return sorted(best.values(), key=lambda p: (_TRUST[p.support], needs[p.tool], p.tool))

    def expression(self, producer: Producer, *, arguments: str = "…") -> str:
        """How a program reads the value: `search_airports(…)[0]["code"]`, for unwrapped responses too."""
        tool = self._toolbox[producer.tool]
        path = steps(producer.path)
        if tool.wrapper is not None and path[:1] == [tool.wrapper]:
            path = path[1:]
        read = "".join("[0]" if isinstance(step, int) else f'["{step}"]' for step in path)
        return f"{producer.tool}({arguments}){read}"
