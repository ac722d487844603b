"""Turns schemas into rules of a grammar: one value, written in JSON or as a Python literal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import ceil, floor
from typing import NoReturn

from atc.decode.arguments.admits import admits
from atc.decode.arguments.arrays import array
from atc.decode.arguments.impossible import Impossible
from atc.decode.arguments.literals import CONSTANTS, Style
from atc.decode.arguments.multiples import number_pattern
from atc.decode.arguments.objects import objects
from atc.decode.arguments.read import Reader
from atc.decode.arguments.room import DEEPEST, LEAST, Wants
from atc.decode.arguments.shape import ANY_NUMBER, Conjunction, Shape, meant, same
from atc.decode.arguments.strings import string_pattern
from atc.decode.arguments.written import written
from atc.decode.bounds import Bounds
from atc.decode.errors import Undecodable
from atc.decode.grammar import Choice, Grammar, Node, Pattern, Ref, Text
from protocols.jsontypes import Json

_NUMBERS = frozenset(("integer", "fraction"))
_MOST_INTEGERS = 64


class Compiler:
    """Rules for the schemas of one reader. Rules' names begin with `prefix`; `unheld` gathers what no rule says.

    `quotients` lets a number without bounds be written as `4/3`.
    """

    def __init__(
        self, reader: Reader, style: Style, *, bounds: Bounds, prefix: str = "", quotients: bool = False
    ) -> None:
        self.reader, self.style, self.bounds = reader, style, bounds
        self._prefix, self._quotients = prefix, quotients
        self.rules: dict[str, Node] = {}
        self.unheld: dict[str, None] = {}
        self.left_out: dict[str, None] = {}
        self.wanted = Wants(reader).of
        self._made: dict[tuple[tuple[int, ...], int, int], Node | Impossible] = {}
        self._open: list[tuple[int, ...]] = []

    def value(self, schemas: Conjunction, room: int) -> Node:
        """A value that conforms to all of `schemas`, of about `room` characters at most.

        Raises:
            Impossible: nothing conforms, or only what is nested without end.
            Undecodable: a schema cannot be compiled.
        """
        key = tuple(map(id, schemas))
        again = key in self._open
        level = self.level + again
        if not schemas and again and (level > self.bounds.depth or room < DEEPEST):
            return self._scalar(room)  # what is open need not be nested
        if level > self.bounds.depth or (again and room < DEEPEST):
            raise Impossible("what conforms is nested without end", clause=self.place(schemas), deep=True)
        made = self._made.get((key, level, room))
        if made is None:
            self._made[key, level, room] = made = self._compiled(key, schemas, room)
        if isinstance(made, Impossible):
            raise made.at("")
        return made

    @property
    def level(self) -> int:
        """How often a schema stands within itself."""
        return len(self._open) - len(set(self._open))

    def place(self, schemas: Conjunction) -> str:
        """Where the first of `schemas` stands."""
        return self.reader.place(schemas[0]) if schemas else ""

    def _characters(self, room: int) -> int:
        """Of a string: no less than a few, however little room there is."""
        return min(self.bounds.characters, max(room, DEEPEST if self.level else LEAST))

    def _scalar(self, room: int) -> Node:
        """Any value that holds no others."""
        shape = Shape()
        names = ("string", "number", "boolean", "null")
        return Choice(tuple(node for name in names for node in self._of_type(name, shape, (), room)))

    def _clause(self, schemas: Conjunction, word: str) -> str:
        """Where the keyword `word` stands in `schemas`, or the first of these."""
        for schema in schemas:
            if word and isinstance(schema, Mapping) and word in schema:
                return f"{self.reader.place(schema)}/{word}"
        return self.place(schemas)

    def rule(self, node: Node) -> Node:
        """A reference to a new rule."""
        name = f"{self._prefix}v{len(self.rules)}"
        self.rules[name] = node
        return Ref(name)

    def _compiled(self, key: tuple[int, ...], schemas: Conjunction, room: int) -> Node | Impossible:
        self._open.append(key)
        try:
            nodes = self._alternatives(schemas, room)
        except Impossible as error:
            return error.at(self._clause(schemas, error.word))
        finally:
            self._open.pop()
        return nodes[0] if len(nodes) == 1 else Choice(tuple(nodes))

    def _alternatives(self, schemas: Conjunction, room: int) -> list[Node]:
        nodes: dict[Node, None] = {}
        why = Impossible("nothing conforms")
        for shape in self.reader.shapes(schemas):
            if shape.values is not None:
                nodes.update(dict.fromkeys(self._listed(shape)))
                continue
            for name in _sorted(shape.types):
                try:
                    nodes.update(dict.fromkeys(self._of_type(name, shape, schemas, room)))
                except Impossible as error:
                    why = error
        if not nodes:
            raise why
        return list(nodes)

    def _listed(self, shape: Shape) -> Iterator[Node]:
        """The values that a schema lists, those that its other clauses allow."""
        for value in shape.values or ():
            if admits(shape, value, self.reader):
                yield written(value, self.style)

    def listed(self, schemas: Conjunction) -> list[Node] | None:
        """Every value that conforms, where they are few and known; `None` where not."""
        values: list[Json] = []
        for shape in self.reader.shapes(schemas):
            few = _few(shape)
            if few is None:
                return None
            values += [value for value in few if admits(shape, value, self.reader)]
        distinct = [value for i, value in enumerate(values) if not any(same(value, other) for other in values[:i])]
        return [written(value, self.style) for value in distinct]

    def leave_out(self, error: Impossible, schemas: Conjunction) -> None:
        """Note that something optional cannot be derived, where its schema was meant to say what it may be."""
        if meant(schemas) and not error.deep:
            self.left_out[f"{error.clause or self.place(schemas) or '/'}: {error.problem}"] = None

    def grammar(self, start: Node) -> Grammar:
        """All rules, with what is derived from `start`."""
        return Grammar(start, self.rules, tuple(self.unheld), tuple(self.left_out))

    def contradiction(self, error: Impossible, schemas: Conjunction) -> NoReturn:
        """The error to give where nothing conforms to something that must be there, or was meant to be."""
        deep = "Give its recursion an end: an optional key, an array that may be empty, another alternative."
        raise Undecodable(
            f"{error.problem}." if error.unsaid else f"{error.problem}: nothing conforms.",
            tool=self.reader.tool,
            clause=error.clause or self.place(schemas) or "/",
            hint=deep
            if error.deep
            else "No grammar of a call can hold to it: change the schema of the tool."
            if error.unsaid
            else "Correct the schema of the tool.",
        )

    def _of_type(self, name: str, shape: Shape, schemas: Conjunction, room: int) -> Iterator[Node]:
        match name:
            case "null":
                yield Text(CONSTANTS[self.style][None])
            case "boolean":
                yield Text(CONSTANTS[self.style][True])
                yield Text(CONSTANTS[self.style][False])
            case "number" | "integer" | "fraction":
                yield self._number(name, shape)
            case "string":
                yield string_pattern(shape.strings, self.style, self._characters(room))
            case "array":
                yield array(self, shape, room, place=self.place(schemas))
            case "object":
                yield objects(self, shape.objects, room)

    def _number(self, name: str, shape: Shape) -> Node:
        node = number_pattern(name, shape.span, shape.steps, self.bounds.digits, self.bounds.places)
        if self._quotients and name == "number" and shape.span == ANY_NUMBER and not shape.steps:
            return Pattern(f"({node.regex})(/[1-9][0-9]{{0,14}}(\\.[0-9]{{1,15}})?)?")
        return node


def _few(shape: Shape) -> Iterable[Json] | None:
    if shape.values is not None:
        return shape.values
    found: list[Json] = []
    for name in _sorted(shape.types):
        span = shape.span
        if name == "null":
            found.append(None)
        elif name == "boolean":
            found += [True, False]
        elif name == "integer" and span.low is not None and span.high is not None:
            if span.high - span.low > _MOST_INTEGERS:
                return None
            found += range(ceil(span.low), floor(span.high) + 1)
        else:
            return None
    return found


def _sorted(types: frozenset[str]) -> list[str]:
    """Types in an order that is always the same, numbers as one."""
    if types >= _NUMBERS:
        types = (types - _NUMBERS) | {"number"}
    return sorted(types, key=("object", "array", "string", "number", "integer", "fraction", "boolean", "null").index)
