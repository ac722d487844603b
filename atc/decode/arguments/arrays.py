"""Arrays: a row of values between brackets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from atc.decode.arguments.impossible import Impossible
from atc.decode.arguments.room import items as items_within
from atc.decode.arguments.shape import Arrays, Conjunction, Shape, joined
from atc.decode.arguments.written import SEPARATOR
from atc.decode.grammar import EMPTY, AnyOrder, Choice, Node, Repeat, Sequence, Text

if TYPE_CHECKING:
    from atc.decode.arguments.compile import Compiler

_LONGEST = 500
"""Items that a schema may demand; a call with more of them is not written."""
_MOST_TOLD_APART = 40
"""Values of which each may come once, where an array's items must differ."""


def array(compiler: Compiler, shape: Shape, room: int, *, place: str) -> Node:
    """`[` items `]`.

    Raises:
        Impossible: no array conforms.
    """
    arrays = shape.arrays
    row = row_of_items(compiler, arrays, room, place=place)
    return compiler.rule(Sequence((Text("["), row, Text("]"))))


def row_of_items(compiler: Compiler, arrays: Arrays, room: int, *, place: str) -> Node:
    """The items with separators between them, perhaps none."""
    if arrays.most is not None and arrays.least > arrays.most:
        raise Impossible(f"minItems {arrays.least} is more than maxItems {arrays.most}", word="minItems")
    if arrays.least > _LONGEST:
        raise Impossible(f"minItems {arrays.least} is more than {_LONGEST}", word="minItems", unsaid=True)
    if arrays.unique and (node := _told_apart(compiler, arrays)) is not None:
        return node
    if arrays.holds and (arrays.prefix or len(arrays.holds) > 1 or arrays.most == 0):
        # The first items are those that must be among them: fewer arrays, none of them wrong.
        width = max(len(arrays.prefix), len(arrays.holds))
        prefix = tuple(joined(arrays.item(i), arrays.holds[i : i + 1]) for i in range(width))
        held = replace(arrays, prefix=prefix, holds=(), least=max(arrays.least, len(arrays.holds)))
        return row_of_items(compiler, held, room, place=place)
    most = _most(compiler, arrays)
    inner = [*arrays.prefix, arrays.rest]
    count, each = items_within(room, (arrays.least, max(most, 1)), max(map(compiler.wanted, inner)), compiler.level)
    most = max(arrays.least, min(most, count))
    first = _first(compiler, arrays, each, most)
    rest: Node = EMPTY
    open_end = len(first) == min(len(arrays.prefix), most) and most > len(first)
    if open_end:
        try:
            rest = compiler.value(arrays.rest, each)
        except Impossible as error:
            _need(compiler, arrays.rest, error, needed=arrays.least > len(first))
            open_end = False
    if arrays.unique and (most if open_end else len(first)) > 1:
        compiler.unheld[f"{place or '/'}: uniqueItems"] = None
    if arrays.holds:
        return _holding(compiler, rest, compiler.value(joined(arrays.rest, arrays.holds), each), arrays.least, most)
    return _row(first, rest, arrays.least, most if open_end else len(first))


def _most(compiler: Compiler, arrays: Arrays) -> int:
    """The bound, less the deeper an array stands within what contains itself."""
    bound = max(1, compiler.bounds.items >> max(0, compiler.level))
    most = max(bound, arrays.least, len(arrays.prefix))
    return most if arrays.most is None else min(most, arrays.most)


def _first(compiler: Compiler, arrays: Arrays, room: int, most: int) -> list[Node]:
    """The items that have a schema of their own, up to one to which nothing conforms."""
    nodes: list[Node] = []
    for schemas in arrays.prefix[:most]:
        try:
            nodes.append(compiler.value(schemas, room))
        except Impossible as error:
            _need(compiler, schemas, error, needed=arrays.least > len(nodes))
            break
    return nodes


def _need(compiler: Compiler, schemas: Conjunction, error: Impossible, *, needed: bool) -> None:
    """What follows from there being no such item: nothing conforms, where one must be there."""
    if needed:
        raise error
    compiler.leave_out(error, schemas)


def _row(first: list[Node], rest: Node, least: int, most: int) -> Node:
    """`first` and then `rest`s, `least` to `most` in all; what may be missing is nested in what comes before it."""
    after: Node = EMPTY
    if most > len(first):
        low, high = max(0, least - len(first)), most - len(first)
        if first:
            after = Repeat(Sequence((SEPARATOR, rest)), low, high)
        else:
            after = Sequence((rest, Repeat(Sequence((SEPARATOR, rest)), max(0, low - 1), high - 1)))
            return after if low else Choice((EMPTY, after))
    for i in range(len(first) - 1, -1, -1):
        part = Sequence((*((SEPARATOR,) if i else ()), first[i], after))
        after = part if i < least else Repeat(part, 0, 1)
    return after


def _holding(compiler: Compiler, item: Node, wanted: Node, least: int, most: int) -> Node:
    """`least` to `most` items of which one is `wanted`, wherever it stands."""
    node: Node | None = None
    for before in range(most - 1, -1, -1):
        after = Repeat(Sequence((SEPARATOR, item)), max(0, least - before - 1), most - before - 1)
        here: Node = Sequence((wanted, after))
        node = compiler.rule(here if node is None else Choice((here, Sequence((item, SEPARATOR, node)))))
    return node if node is not None else wanted


def _told_apart(compiler: Compiler, arrays: Arrays) -> Node | None:
    """Items that differ, where a schema lists all that there may be: each value at most once."""
    if arrays.prefix or arrays.holds:
        return None
    values = compiler.listed(arrays.rest)
    if values is None or len(values) > _MOST_TOLD_APART:
        return None
    if len(values) < arrays.least:
        raise Impossible(f"only {len(values)} values differ, and minItems is {arrays.least}", word="minItems")
    most = len(values) if arrays.most is None else min(arrays.most, len(values))
    return AnyOrder(tuple((value, False) for value in values), SEPARATOR, least=arrays.least, most=most)
