"""What is true of a service: what its document declares, and what a census of its answers shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from protocols.jsontypes import Json
from protocols.protocol import ToolProtocol
from toolflow_bench.probing.fields import Fields, map_paths, response_fields, schema_fields

LinkKey = tuple[str, str, str, str]
"""Producing tool, path in its response, consuming tool, argument."""


@dataclass(frozen=True)
class ToolTruth:
    """What is true of one tool: its declared protocol and the answers that a census got."""

    declared: ToolProtocol
    answers: Sequence[Json] = ()

    @cached_property
    def declared_fields(self) -> Fields:
        """Those that the document describes."""
        return schema_fields(self.declared.output_schema)

    @cached_property
    def seen_fields(self) -> Fields:
        """Those that came."""
        return response_fields(self.answers, maps=map_paths(self.declared.output_schema))


@dataclass(frozen=True)
class Truth:
    """A service's tools by name. `asked`: calls of the census, refused ones included."""

    tools: Mapping[str, ToolTruth]
    asked: int = 0

    @property
    def answered(self) -> int:
        """Calls of the census that gave a response."""
        return sum(len(tool.answers) for tool in self.tools.values())

    @cached_property
    def links(self) -> frozenset[LinkKey]:
        """Declared links between these tools."""
        return links_of(tool.declared for tool in self.tools.values())


def links_of(protocols: Iterable[ToolProtocol]) -> frozenset[LinkKey]:
    """The links that protocols declare or have observed; guessed ones and those from other tools are left out."""
    known = {protocol.name: protocol for protocol in protocols}
    return frozenset(
        (link.tool, link.path, name, link.argument)
        for name, protocol in known.items()
        for link in protocol.links
        if link.support != "guessed" and link.tool in known
    )
