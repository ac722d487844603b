"""The grammar of one tool's arguments in one form, and of one value."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from atc.decode.arguments.arrays import row_of_items
from atc.decode.arguments.compile import Compiler
from atc.decode.arguments.impossible import Impossible
from atc.decode.arguments.literals import Style
from atc.decode.arguments.objects import Member, in_order, members, objects
from atc.decode.arguments.read import Reader
from atc.decode.arguments.shape import Conjunction, Objects, Shape
from atc.decode.arguments.written import EQUALS, SEPARATOR
from atc.decode.bounds import BOUNDS, Bounds
from atc.decode.formats import ArgumentForm
from atc.decode.grammar import EMPTY, MOST_ITEMS, AnyOrder, Choice, Grammar, Node, Repeat, Sequence, Text
from protocols.jsontypes import JsonObject
from protocols.toolbox import Tool

VARIADIC = "x-variadic"
"""In the schema of a tool's last parameter, an array: in positional form its items stand as arguments of their own."""

_CACHED = 512
_DEEPEST = 8
"""Groups in one another, of arguments by position that may be left out."""


def arguments_grammar(tool: Tool, form: ArgumentForm, *, bounds: Bounds = BOUNDS, prefix: str = "") -> Grammar:
    """What may stand for the arguments of `tool`: one JSON object, or what is between the parentheses of a call.

    Argument names are the tool's aliases. Whatever is derived conforms to the tool's input schema, but for what
    `Grammar.unheld` lists, and ends. Keys and keyword arguments come in any order; there are none but the tool's own.
    Rules' names begin with `prefix`.

    Raises:
        Undecodable: the schema cannot be compiled, or nothing conforms to it.
    """
    return _cached(_Same(tool), form, bounds, prefix)


class _Same:
    """A tool as a key: the same object, or another of the same alias and protocol object."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool

    def __hash__(self) -> int:
        return hash((self.tool.alias, id(self.tool.protocol)))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Same)
            and self.tool.alias == other.tool.alias
            and self.tool.protocol is other.tool.protocol
        )


@lru_cache(maxsize=_CACHED)
def _cached(same: _Same, form: ArgumentForm, bounds: Bounds, prefix: str) -> Grammar:
    return _Arguments(same.tool, form, bounds, prefix).grammar()


class _Arguments:
    def __init__(self, tool: Tool, form: ArgumentForm, bounds: Bounds, prefix: str) -> None:
        self._tool, self._form, self._room = tool, form, bounds.call_characters
        self._root = tool.protocol.input_schema
        style: Style = "json" if form == "json" else "python"
        self._reader = Reader(self._root, tool=tool.alias)
        self._compiler = Compiler(self._reader, style, bounds=bounds, prefix=prefix, quotients=form == "positional")

    def grammar(self) -> Grammar:
        schemas: Conjunction = (self._root,)
        try:
            shapes = [shape for shape in self._reader.shapes(schemas) if "object" in shape.types]
            if not shapes:
                self._reader.refuse("the arguments of a tool are an object.", self._root, "type")
            start = self._one_of(shapes)
        except Impossible as error:
            self._compiler.contradiction(error, schemas)
        return self._compiler.grammar(start)

    def _one_of(self, shapes: list[Shape]) -> Node:
        nodes: dict[Node, None] = {}
        why = Impossible("nothing conforms")
        for shape in shapes:
            try:
                nodes[self._arguments(shape)] = None
            except Impossible as error:
                why = error
        if not nodes:
            raise why
        return next(iter(nodes)) if len(nodes) == 1 else Choice(tuple(nodes))

    def _arguments(self, shape: Shape) -> Node:
        """The arguments of one alternative of the schema."""
        these = self._aliased(shape.objects)
        if self._form == "json":
            return objects(self._compiler, these, self._room)
        if these.most is not None or these.least > len(these.required):
            self._reader.refuse("a number of arguments is not supported in this form.", self._root, "minProperties")
        found = members(self._compiler, these, self._room)
        return self._keywords(found) if self._form == "keywords" else self._positional(found, these)

    def _aliased(self, these: Objects) -> Objects:
        """The same by aliases, in declared order; further keys only where the schema says so."""
        alias_of = {name: alias for alias, name in self._tool.arguments.items()}
        known = {alias: these.of(name) for alias, name in self._tool.arguments.items()}
        others = {name: schemas for name, schemas in these.properties.items() if name not in alias_of}
        open_json = self._form == "json" and these.extra not in (None, (), (False,))
        return Objects(
            properties=known | others,
            required=frozenset(alias_of.get(name, name) for name in these.required),
            extra=these.extra if open_json else (False,),
            patterns=these.patterns if self._form == "json" else (),
            names=these.names if open_json or these.patterns else (),
            least=these.least,
            most=these.most,
        )

    def _keywords(self, found: list[Member]) -> Node:
        pairs: list[tuple[Node, bool]] = [(Sequence((Text(one.name), EQUALS, one.value)), one.needed) for one in found]
        if not pairs:
            return EMPTY
        if len(pairs) > MOST_ITEMS:
            return in_order(self._compiler, pairs)
        return AnyOrder(tuple(pairs), SEPARATOR)

    def _positional(self, found: list[Member], these: Objects) -> Node:
        """Values in declared order: all up to the last that must be there, and any number of those that follow."""
        values = {one.name: one for one in found}
        row: list[Member] = []
        for alias in self._tool.arguments:
            if alias not in values:
                break  # nothing conforms to it: what follows cannot be reached
            row.append(values[alias])
        must = max((i + 1 for i, one in enumerate(row) if one.needed), default=0)
        if any(one.needed for one in found[len(row) :]) or len(these.required - {one.name for one in row}):
            raise Impossible("a required argument stands behind one that can have no value")
        spread = self._spread(row, must, these)
        return spread if spread is not None else self._nested(row, must, EMPTY)

    def _spread(self, row: list[Member], must: int, these: Objects) -> Node | None:
        """The same where the last argument is an array whose items stand as arguments of their own."""
        if len(row) != len(self._tool.arguments) or not row:
            return None
        last = row[-1]
        schemas = these.of(last.name)
        if not any(isinstance(schema, Mapping) and schema.get(VARIADIC) is True for schema in schemas):
            return None
        shapes = [shape for shape in self._reader.shapes(schemas) if "array" in shape.types]
        if not shapes:
            self._reader.refuse(f"{VARIADIC!r} is for arrays.", schemas[0], VARIADIC)
        items = row_of_items(self._compiler, shapes[0].arrays, self._room, place=self._reader.place(schemas[0]))
        if len(row) == 1:
            return items
        least = shapes[0].arrays.least
        after: Node = Sequence((SEPARATOR, items))
        first = max(must - 1, 0) if not last.needed else len(row) - 1
        return self._nested(row[:-1], first, _maybe(after, least and last.needed))

    def _nested(self, row: list[Member], must: int, after: Node) -> Node:
        """Some rules are put between: llguidance reads no text in which so many groups stand in one another."""
        for i in range(len(row) - 1, -1, -1):
            part: Node = Sequence((*((SEPARATOR,) if i else ()), row[i].value, after))
            part = part if i % _DEEPEST or not i else self._compiler.rule(part)
            after = part if i < must else Repeat(part, 0, 1)
        return after


def _maybe(node: Node, needed: object) -> Node:
    return node if needed else Repeat(node, 0, 1)


def value_grammar(
    schema: Any,
    root: JsonObject | None = None,
    style: Style = "json",
    *,
    bounds: Bounds = BOUNDS,
    prefix: str = "",
    tool: str = "",
    place: str = "",
    characters: int | None = None,
) -> Grammar:
    """One value that conforms to `schema`, in JSON or as a Python literal.

    It takes about `characters` characters at most, by default as many as the arguments of a call. References lead into
    `root` (by default `schema` itself). `tool` and `place` (a JSON pointer) are for messages.

    Raises:
        Undecodable: the schema cannot be compiled, or nothing conforms to it.
    """
    base = root if root is not None else schema if isinstance(schema, Mapping) else {}
    reader = Reader(base, tool=tool, place=place if base is schema else "")
    compiler = Compiler(reader, style, bounds=bounds, prefix=prefix)
    schemas: Conjunction = () if schema is True else (reader.at(schema, base=place),)
    try:
        start = compiler.value(schemas, bounds.call_characters if characters is None else characters)
    except Impossible as error:
        compiler.contradiction(error, schemas)
    return compiler.grammar(start)
