"""Where the values come from that a program calls a tool with."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence

from probing.naming import argument_name, distance, field_name
from probing.pools.harvest import followable, harvest
from probing.pools.place import scalars
from probing.sample import Origin, Sample
from probing.shape import distinctive, text_of
from protocols.jsontypes import Json
from protocols.parsing import parse
from protocols.protocol import ToolProtocol

_MODEL = Origin(kind="model")


class Provenance:
    """The origins of one program's values.

    A value is taken for that of a response where chance hardly explains it. One that the program does not spell, and
    that is no count or common word, was carried over from a response of this very run. Any other must come from a place
    that is called as the argument is.
    """

    def __init__(self, program: str, protocols: Mapping[str, ToolProtocol], shown: Sequence[Sample]) -> None:
        """`protocols` are those of the tools that the program may call, `shown` their samples before it ran."""
        self._protocols, self._shown = protocols, shown
        self._spelled = _constants(program)

    def origin(self, tool: str, argument: str, value: Json, run: Sequence[Sample]) -> Origin:
        """Where `value` came from; `run` are the samples of the program's earlier calls."""
        if isinstance(value, list) and value:
            origins = [self.origin(tool, argument, item, run) for item in scalars(value)]
            return origins[0] if origins and all(origin.kind == "response" for origin in origins) else _MODEL
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return _MODEL
        spelled = text_of(value) in self._spelled
        places = [
            Origin(kind="response", tool=sample.tool, path=path, sample=sample.number)
            for sample in reversed([*(self._shown if spelled else ()), *run])
            if sample.done
            for path in _paths_of(value, sample.response)
        ]
        akin = next((place for place in places if self._akin(tool, argument, place)), None)
        if akin is not None:
            return akin
        return places[0] if places and not spelled and distinctive(value) else _MODEL

    def _akin(self, tool: str, argument: str, place: Origin) -> bool:
        wanted = argument_name(self._protocols[tool], argument)
        return distance(wanted, field_name(self._protocols[place.tool], place.path)) is not None


def _paths_of(value: Json, response: Json) -> Collection[str]:
    """The paths at which a response holds a value; `5` and `"5"` are one."""
    text = text_of(value)
    found = (found.path for found in harvest(response) if text_of(found.value) == text)
    return dict.fromkeys(path for path in found if followable(path))


def _constants(program: str) -> frozenset[str]:
    """What the program spells out, as text."""
    try:
        nodes = ast.walk(parse(program))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    return frozenset(
        text_of(n.value) for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str | int | float)
    )
