"""Calls of tools: keyword arguments, each a literal that conforms or a value of the program that fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain

from atc.check.fits import apart, misfit, pattern_misfit
from atc.check.schema import response_document, result_type
from atc.check.types import ANY, Atom, Type, members
from atc.decode.bounds import Bounds
from atc.decode.grammar import AnyOrder, Node, Text
from atc.decode.program.arguments import Argument, Reading, Wanted
from atc.decode.program.given import Given, of_ids
from atc.decode.program.nodes import Part, Rules, either, maybe, pattern, row
from atc.decode.program.places import Kind, Place, key_step, reach
from atc.decode.program.view import View
from protocols.toolbox import Tool, Toolbox

_NAMES = {"str": "string", "int": "integer", "number": "number", "bool": "boolean", "list": "array"}


@dataclass(frozen=True, slots=True, eq=False)
class Callable:
    """A tool, its arguments, and the type of what it gives."""

    tool: Tool
    arguments: Sequence[Argument]
    result: Type


class Known:
    """The tools of a toolbox, read once; `linked` is where in responses the values stand that links name."""

    def __init__(self, tools: Toolbox, given: Given, bounds: Bounds) -> None:
        """Raises `Undecodable` for a tool whose arguments nothing can be written for."""
        reading = Reading(tools, given, bounds)
        self.given = given
        self.tools = [
            Callable(tool, reading.arguments(tool, number), _result(tool)) for number, tool in enumerate(tools.values())
        ]
        arguments = (argument for tool in self.tools for argument in tool.arguments if argument.made)
        self.linked = frozenset(origin for argument in arguments for origin in argument.wanted.origins)


def _result(tool: Tool) -> Type:
    document = response_document(tool)
    return ANY if document is None else result_type(tool, document)


class Calls:
    """The calls that can be written at one point."""

    def __init__(self, known: Known, view: View, rules: Rules, tag: str, text: Part, number: Part = None) -> None:
        self.tools, self.linked, self.given = known.tools, known.linked, known.given
        self.view, self.rules, self.tag = view, rules, tag
        self.text, self.number = text, number
        self._at_hand: dict[str, str | None] = {}
        self.aliases = {tool.tool.alias for tool in self.tools}

    def call(self, known: Callable) -> Part:
        """`alias(name=value, …)`."""
        return self.rules.rule(f"{self.tag}call_{known.tool.alias}", lambda: self._call(known))

    def _call(self, known: Callable, *, within: bool = False) -> Part:
        """`within`: as the argument of another call, whose own arguments are then no calls."""
        items: list[tuple[Node, bool]] = []
        for argument in known.arguments:
            fetched = None if within else self.fetched(argument, known)
            value = row(f"{argument.alias}=", either(self.value(argument), fetched))
            if value is not None:
                items.append((value, argument.required))
            elif argument.required:
                return None
        return row(f"{known.tool.alias}(", _listed(items), ")")

    def value(self, argument: Argument) -> Part:
        """What may stand as an argument; nothing where nothing may at this point."""
        wanted = argument.wanted
        if argument.made:
            linked = pattern(self.view.where(lambda r: self.takes(argument, r.place, r.kind)))
            if linked is not None and not argument.beside:
                return linked
            return self._either(argument, linked)
        named = any(suffix.endswith(key_step(argument.alias)) for suffix in self._ids)
        paths = self.rules.rule(
            f"{self.tag}fits_{_word(wanted)}{argument.alias if named else ''}",
            lambda: pattern(self.view.where(lambda r: self.takes(argument, r.place, r.kind))),
        )
        made: Part = None
        if not wanted.origins and wanted.values is None and wanted.plain:
            made = self.number if "number" in wanted.types else None
            if wanted.types == {"string"} and wanted.bare:
                made = self.text
        return self._either(argument, paths, made)

    def fetched(self, argument: Argument, caller: Callable) -> Part:
        """What a call of another tool gives that the links name: `get_city(id=find_city(name="Rome")[0]["id"])`."""
        tools = dict.fromkeys(origin.tool for origin in argument.wanted.origins)
        calls: list[Part] = []
        for known in (one for one in self.tools if one is not caller and one.tool.alias in tools):
            after = reach(
                place
                for place, kind in self.view.reader.read(known.result, frozenset())
                if place.origin in argument.wanted.origins and not kind.nullable and self.takes(argument, place, kind)
            )
            if after:
                inner = self.rules.rule(f"{self.tag}within_{known.tool.alias}", partial(self._call, known, within=True))
                calls.append(row(inner, pattern(after)))
        return either(*calls)

    def _either(self, argument: Argument, *parts: Part) -> Part:
        if argument.literal is not None:
            self.rules.made.update(argument.rules)
        return either(argument.literal, *parts)

    def at_hand(self, argument: Argument) -> str | None:
        """Variables and fields that fit, for a call among other things."""
        if argument.alias not in self._at_hand:
            self._at_hand[argument.alias] = self.view.short(lambda r: self.takes(argument, r.place, r.kind))
        return self._at_hand[argument.alias]

    def takes(self, argument: Argument, place: Place, kind: Kind) -> bool:
        """Whether a value of the program may be given to an argument.

        By a link, by the argument's own name, by its pattern or by that of an id that it takes among others, a city's
        where any place's is wanted (links need not name them all); else an argument whose values some tool yields takes
        only what is of unknown origin, and any other what is no id of something and has no other pattern.
        """
        wanted = argument.wanted
        if place.origin is not None and place.origin in wanted.origins:
            return True
        if not conforms(kind, place.kind, wanted):
            return False
        patterns = {m.pattern for m in members(place.kind) if isinstance(m, Atom) and m.pattern is not None}
        if wanted.pattern and any(apart(wanted.pattern, one) for one in patterns):
            return False
        if place.suffix.endswith(key_step(argument.alias)) or (wanted.pattern and patterns == {wanted.pattern}):
            return True
        if wanted.pattern and patterns and all(of_ids(wanted.pattern, one) for one in patterns):
            return True
        if not argument.made:
            return place.origin not in self.linked and not (wanted.pattern and patterns - {wanted.pattern})
        if place.origin is not None or (kind.name == "list" and "array" not in wanted.types):
            return False
        constants = [m.values for m in members(place.kind) if isinstance(m, Atom) and m.values is not None]
        return all(map(self.given.holds, chain(*constants)))

    @cached_property
    def _ids(self) -> list[str]:
        """Where in variables the ids of things stand."""
        return [read.place.suffix for read in self.view.reads if read.place.origin in self.linked]


def _listed(items: list[tuple[Node, bool]]) -> Node | str:
    match items:
        case []:
            return ""
        case [(only, required)]:
            return only if required else maybe(only)
        case _:
            return AnyOrder(tuple(items), Text(", "))


def _word(wanted: Wanted) -> str:
    """Names the values that are wanted: arguments of a bare type share theirs."""
    clauses = "" if wanted.bare else f"_{id(wanted.schema)}"
    return "_".join(sorted(wanted.types)) + "_" + "_".join(sorted(wanted.items)) + clauses


def conforms(kind: Kind, value: Type, wanted: Wanted) -> bool:
    """Whether every value of this kind, None aside, has a type that the argument takes; a constant fits as it is."""
    if kind.name == "any":
        return True
    if wanted.types and _NAMES.get(kind.name, "") not in wanted.types:
        return False
    atoms = [m for m in members(value) if isinstance(m, Atom)]
    constants = [atom for atom in atoms if atom.values is not None]
    if wanted.values is not None and not constants:
        return False
    if any(misfit(constant, wanted.schema, wanted.root) for atom in constants for constant in atom.values or ()):
        return False
    if any(atom.pattern is not None and pattern_misfit(atom.pattern, wanted.schema, wanted.root) for atom in atoms):
        return False
    if kind.name == "list" and wanted.items:
        item = kind.item
        return item is ANY or (isinstance(item, Atom) and _json(item) in wanted.items)
    return kind.name in _NAMES


def _json(item: Atom) -> str:
    return {"str": "string", "int": "integer", "bool": "boolean"}.get(item.name, "number")
