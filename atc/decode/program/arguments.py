"""What a tool's arguments take: the literals of their schemas, and which values of a program fit them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from atc.check.types import Origin
from atc.decode.arguments import value_grammar
from atc.decode.bounds import Bounds
from atc.decode.errors import Undecodable
from atc.decode.grammar import Node
from atc.decode.program.given import Given, codes, dates, is_free, of_ids
from atc.decode.program.nodes import Part, either
from protocols.producers import Producers
from protocols.schema import resolve, steps, types
from protocols.toolbox import Tool, Toolbox

_PLAIN = {"type", "title", "description", "default", "example", "examples", "deprecated", "nullable", "format"}
_MOST_CHARACTERS = 200
"""Of one literal."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What values an argument takes. `types` are JSON's, empty where any does; `values` the only strings allowed.

    `origins` are the places in responses that the links name for it. `items` are the types of an array's items.
    """

    types: frozenset[str]
    values: tuple[str, ...] | None = None
    origins: frozenset[Origin] = frozenset()
    items: frozenset[str] = frozenset()
    plain: bool = True
    """Whether no clause but the type limits it."""
    schema: Any = field(default=None, compare=False)
    root: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def pattern(self) -> str | None:
        """The pattern of its strings."""
        regex = self.schema.get("pattern") if isinstance(self.schema, Mapping) else None
        return regex if isinstance(regex, str) else None

    @property
    def bare(self) -> bool:
        """Whether the type alone decides."""
        return self.plain and isinstance(self.schema, Mapping) and "format" not in self.schema


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument by its alias.

    `literal` derives the constants that it may be written as, by rules of `rules`; nothing where there are none.
    `unheld` are clauses of its schema that they may break (`Grammar.unheld`).
    `made`: its values come from other tools, so a value of the program must come from where such stand. `beside`:
    literals stay possible where such a value is in scope.
    """

    alias: str
    required: bool
    wanted: Wanted
    literal: Part
    rules: Mapping[str, Node]
    made: bool = False
    beside: bool = True
    unheld: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Made:
    """An argument whose values come from other tools, and that nobody knows by heart; `schema` is that of one value.

    `name` is the original one; `many`: it takes a list of such values.
    """

    alias: str
    name: str
    schema: Mapping[str, Any]
    many: bool = False


class Reading:
    """Reads the arguments of a toolbox's tools, for one task."""

    def __init__(self, tools: Toolbox, given: Given, bounds: Bounds) -> None:
        self.tools, self.given, self.bounds = tools, given, bounds
        self._producers = Producers(tools)
        self._aliases = {(tool.source, tool.protocol.name): tool.alias for tool in tools.values()}

    def arguments(self, tool: Tool, number: int) -> list[Argument]:
        """The arguments of a tool, the `number`th of its toolbox, in declared order.

        Raises:
            Undecodable: nothing can be written for one that is required, whatever the program.
        """
        found: list[Argument] = []
        for position, (alias, name) in enumerate(tool.arguments.items()):
            schema, root = tool.protocol.parameters[name], tool.protocol.input_schema
            wanted = _wanted(schema, root, self._origins(tool, name))
            try:
                grammar = value_grammar(
                    schema,
                    root,
                    "python",
                    bounds=self.bounds,
                    prefix=f"v{number}_{position}_",
                    tool=tool.alias,
                    place=f"/properties/{name}",
                    characters=_MOST_CHARACTERS,
                )
            except Undecodable:
                if alias in tool.required:
                    raise
                continue  # an argument that nothing can be written for can be left out
            required = alias in tool.required
            unheld = tuple(f"{tool.alias}{clause}" for clause in grammar.unheld)
            if self._is_made(tool, name, alias, wanted):
                known = self.given.known
                literal = self._given(alias, wanted) if known else grammar.start
                found.append(
                    Argument(alias, required, wanted, literal, grammar.rules, made=True, beside=known, unheld=unheld)
                )
            else:
                found.append(Argument(alias, required, wanted, grammar.start, grammar.rules, unheld=unheld))
        return found

    def made(self, tool: Tool) -> Iterator[Made]:
        """Those arguments of a tool that only the task or what other tools gave can tell."""
        for alias, name in tool.arguments.items():
            schema, root = tool.protocol.parameters[name], tool.protocol.input_schema
            if not isinstance(schema, Mapping) or not self._is_made(
                tool, name, alias, _wanted(schema, root, frozenset())
            ):
                continue
            schema = resolve(schema, root)
            items = schema.get("items") if "array" in types(schema) else None
            one = resolve(items, root) if isinstance(items, Mapping) else schema
            if dates(alias, one) is None and codes(one, root) is None:
                yield Made(alias, name, one, many=one is not schema)

    def _is_made(self, tool: Tool, name: str, alias: str, wanted: Wanted) -> bool:
        """Whether some tool yields its values, or nobody could know one, and it is no date, measure or the like."""
        if not self._producers.of(tool, name):
            return self.given.known and wanted.pattern is not None and of_ids(wanted.pattern)
        return not (isinstance(wanted.schema, Mapping) and is_free(alias, wanted.schema, wanted.types))

    def _given(self, alias: str, wanted: Wanted) -> Part:
        if not isinstance(wanted.schema, Mapping):
            return None
        known = either(dates(alias, wanted.schema), codes(wanted.schema, wanted.root))
        return either(self.given.literal(alias, wanted.schema, wanted.root), known)

    def _origins(self, tool: Tool, name: str) -> frozenset[Origin]:
        """Every place that the links name, the tool's own response included."""
        found: set[Origin] = set()
        for link in tool.protocol.links:
            alias = self._aliases.get((tool.source, link.tool))
            if link.argument == name and alias is not None:
                found.add(_origin(self.tools[alias], link.path))
        return frozenset(found)


def _origin(tool: Tool, path: str) -> Origin:
    parts = steps(path)
    if tool.wrapper is not None and parts[:1] == [tool.wrapper]:
        parts = parts[1:]
    return Origin(tool.alias, tuple(None if isinstance(part, int) else part for part in parts))


def _wanted(schema: Any, root: Mapping[str, Any], origins: frozenset[Origin]) -> Wanted:
    if not isinstance(schema, Mapping):
        return Wanted(frozenset(), plain=False, root=root)
    schema = resolve(schema, root)
    options = [resolve(part, root) for key in ("anyOf", "oneOf") for part in schema.get(key) or ()]
    named = set(types(schema)) or {name for part in options for name in types(part)}
    if options and not all(types(part) for part in options):
        named = set()
    values = tuple(value for value in schema.get("enum") or () if isinstance(value, str)) or None
    if "number" in named:
        named.add("integer")
    items = schema.get("items")
    inner = frozenset(types(resolve(items, root))) if isinstance(items, Mapping) else frozenset[str]()
    if "number" in inner:
        inner |= {"integer"}
    return Wanted(frozenset(named), values, origins, inner, schema.keys() <= _PLAIN, schema, root)
