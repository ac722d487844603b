"""Objects: keys and values between braces, in any order."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from atc.decode.arguments.admits import admits
from atc.decode.arguments.impossible import Impossible
from atc.decode.arguments.room import share
from atc.decode.arguments.shape import Objects, least_of
from atc.decode.arguments.unnamed import extras_within, unnamed
from atc.decode.arguments.written import SEPARATOR, key_text, pair_of
from atc.decode.grammar import EMPTY, MOST_ITEMS, AnyOrder, Choice, Node, Sequence, Text

if TYPE_CHECKING:
    from atc.decode.arguments.compile import Compiler


class Member(NamedTuple):
    """A named value, and whether it must be there."""

    name: str
    value: Node
    needed: bool


def objects(compiler: Compiler, these: Objects, room: int) -> Node:
    """`{` pairs `}`.

    Raises:
        Impossible: no object conforms.
    """
    if these.properties and (these.patterns or these.extra not in (None, (False,))):
        room //= 2  # for keys that somebody named, and for others
    named = members(compiler, these, room)
    pairs = [(pair_of(key_text(one.name, compiler.style), one.value), one.needed) for one in named]
    must, most = sum(one.needed for one in named), these.most
    if most is not None and most < must:
        raise Impossible(f"maxProperties {most} is less than what is required", word="maxProperties")
    further = unnamed(compiler, these, room, len(pairs))
    if further:
        # No more of them than there is room for, or than the schema demands.
        count = max(extras_within(compiler, room), these.least - len(pairs))
        most = least_of(most, len(pairs) + count)
        pairs += [(pair, False) for pair in further]
    if len(pairs) < these.least or (most is not None and these.least > most):
        raise Impossible(f"no object has as many keys as minProperties {these.least}", word="minProperties")
    if not pairs:
        inside: Node = EMPTY
    elif len(pairs) > MOST_ITEMS and not further and these.most is None:
        inside = in_order(compiler, pairs)
    else:
        inside = AnyOrder(tuple(pairs), SEPARATOR, least=these.least, most=most)
    return compiler.rule(Sequence((Text("{"), inside, Text("}"))))


def members(compiler: Compiler, these: Objects, room: int) -> list[Member]:
    """The values that `these` name, as far as something conforms to them, each with its share of `room`.

    Raises:
        Impossible: one that is required can have no value.
    """
    names = [*these.properties, *sorted(these.required - these.properties.keys())]
    schemas = {name: these.of(name) for name in names}
    wanted = {name: compiler.wanted(schemas[name]) for name in names}
    most = sum(wanted.values())
    kept = []
    for name in names:
        needed = name in these.required
        try:
            _name_conforms(compiler, these, name)
            value = compiler.value(schemas[name], share(room, wanted[name], most))
        except Impossible as error:
            if needed:
                raise
            compiler.leave_out(error, schemas[name])
            continue
        kept.append(Member(name, value, needed))
    return kept


def _name_conforms(compiler: Compiler, these: Objects, name: str) -> None:
    if these.names and not any(admits(shape, name, compiler.reader) for shape in compiler.reader.shapes(these.names)):
        raise Impossible(f"the key {name!r} does not conform to propertyNames", deep=True)


def in_order(compiler: Compiler, pairs: list[tuple[Node, bool]]) -> Node:
    """Parts in this order, those that must come and any of the others, with separators between them."""
    after: Node = EMPTY
    first: Node = EMPTY
    for part, needed in reversed(pairs):
        begun = Sequence((part, after))
        going = Sequence((SEPARATOR, part, after))
        first = compiler.rule(begun if needed else Choice((begun, first)))
        after = compiler.rule(going if needed else Choice((going, after)))
    return first
