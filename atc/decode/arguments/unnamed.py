"""Keys of an object that no schema names: no two of the same name, by construction."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from atc.decode.arguments.admits import admits
from atc.decode.arguments.impossible import Impossible
from atc.decode.arguments.literals import Style, string_literal
from atc.decode.arguments.room import KEY_CHARACTERS
from atc.decode.arguments.shape import Conjunction, Objects, joined
from atc.decode.arguments.strings import Strings, string_pattern
from atc.decode.arguments.written import pair_of
from atc.decode.grammar import MOST_ITEMS, Node, Pattern
from atc.regex import as_rust, found, literal, sought
from atc.regex.tree import Chars, Repeated, chars, common, others, row

if TYPE_CHECKING:
    from atc.decode.arguments.compile import Compiler

_MOST = 8
"""Such keys of one object, where the schema does not demand more."""
_KEY, _VALUE = 10, 30
"""Characters that a key and its value take mostly."""
_PLAIN = others(chars([(0, 31), (34, 34), (39, 39), (92, 92)]))
_LETTERS = [chars([(ord(char), ord(char)) for char in (low, low.upper())]) for low in string.ascii_lowercase]
_DIGITS = chars([(48, 57)])
_REST = common(_PLAIN, others(chars([range_ for these in (*_LETTERS, _DIGITS) for range_ in these.ranges])))
_BEGINNINGS: tuple[Chars, ...] = (*_LETTERS, _DIGITS, _REST)
"""What keys begin with: each object has at most one key of each, so that its keys are different."""
_FEWER: tuple[Chars, ...] = (
    *(chars([range_ for these in _LETTERS[at : at + 2] for range_ in these.ranges]) for at in range(0, 26, 2)),
    _DIGITS,
    _REST,
)
"""The same for objects that stand in what they are, so that a grammar stays small."""


def extras_within(compiler: Compiler, room: int) -> int:
    """How many keys that nobody named there may be."""
    bound = max(1, min(_MOST, compiler.bounds.items) >> max(0, compiler.level))
    return max(1, min(bound, room // (_KEY + _VALUE)))


def unnamed(compiler: Compiler, these: Objects, room: int, known: int) -> list[Node]:
    """Pairs whose keys nobody named, of which each may come once, beside `known` pairs that somebody named."""
    each = max(1, room // extras_within(compiler, room) - _KEY)
    pairs: list[Node] = []
    for pattern, schemas in _kinds(these, known):
        try:
            value = compiler.rule(compiler.value(schemas, each))
        except Impossible as error:
            compiler.leave_out(error, schemas)
            continue
        if pattern is None and not these.names and known + len(_BEGINNINGS) <= MOST_ITEMS:
            pairs += [pair_of(key, value) for key in _by_beginning(these, compiler)]
        else:
            pairs += [pair_of(key, value) for key in _held(compiler, these, pattern)]
    return pairs[: max(0, MOST_ITEMS - known)]


def _kinds(these: Objects, known: int) -> Iterator[tuple[str | None, Conjunction]]:
    """Patterns of keys, `None` where any key will do, each with what its values conform to."""
    if these.patterns:
        # A key that two patterns know conforms to both: only the first of these is offered.
        taken: list[str] = []
        for pattern, schema in these.patterns:
            if not any(found([sought(pattern), sought(other)]) is not None for other in taken):
                taken.append(pattern)
                yield pattern, joined((schema,))
    elif these.extra is not None:
        if these.extra != (False,):
            yield None, these.extra
    elif not known and not these.properties and not these.sealed:
        yield None, ()


def _by_beginning(these: Objects, compiler: Compiler) -> Iterator[Node]:
    for first in _FEWER if compiler.level else _BEGINNINGS:
        key = _begun(first, compiler.style)
        named = [name for name in sorted(these.properties) if name and name[0] in first]
        never = (as_rust(string_literal(literal(name), compiler.style)) for name in named)
        yield Pattern(key, (), tuple(never))


@cache
def _begun(first: Chars, style: Style) -> str:
    return as_rust(string_literal(row([first, Repeated(_PLAIN, 0, KEY_CHARACTERS - 1)]), style))


def _held(compiler: Compiler, these: Objects, pattern: str | None) -> Iterator[Node]:
    """Keys that must match a pattern, or what `propertyNames` says: one key, or each of those that it lists."""
    held = Strings(patterns=(pattern,) if pattern is not None else (), without=frozenset(these.properties))
    for allowed in _allowed(compiler, these):
        try:
            yield string_pattern(held.both(allowed), compiler.style, KEY_CHARACTERS)
        except Impossible:
            continue
        if not allowed.patterns[-1:] or not allowed.patterns[-1].startswith(_LISTED):
            return


_LISTED = "^(?:"


def _allowed(compiler: Compiler, these: Objects) -> Iterator[Strings]:
    """What keys may be, as `propertyNames` has it: those that it lists, and one kind of others."""
    for shape in compiler.reader.shapes(these.names):
        if "string" not in shape.types:
            continue
        for value in shape.values or ():
            if isinstance(value, str) and admits(shape, value, compiler.reader):
                yield Strings(patterns=(f"{_LISTED}{re.escape(value)})$",))
        if shape.values is None:
            yield shape.strings
