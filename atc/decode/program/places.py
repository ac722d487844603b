"""Every place that a program can read in a value: the subscripts that lead there, and what stands there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from atc.check.schema import convert, field_type, item_type
from atc.check.types import ANY, NEVER, Array, Atom, Listing, Mapped, Null, Origin, Record, Tuple, Type, join, members
from atc.decode.program.nodes import any_of, literally

MOST_STEPS = 4
"""Subscripts after one another."""
MOST_PLACES = 90
"""Places within one value; those nearest to it are kept."""
_LETTER = r"[^\"'\\#{}`\x00-\x1f\x7f]"
KEY = rf"\[(?:\"{_LETTER}{{1,40}}\"|'{_LETTER}{{1,40}}')\]"
INDEX = r"\[(?:-1|0|[1-9][0-9]?)\]"
OPEN = rf"(?:{KEY}|{INDEX}){{1,4}}"
"""What may follow a value of which nothing is known."""


@dataclass(frozen=True, slots=True)
class Place:
    """Subscripts (a regular expression, empty for the value itself), what stands there, and where in a response."""

    suffix: str
    kind: Type
    origin: Origin | None
    steps: int = 0
    before: str = ""
    """The subscripts but the last, where that is a key without escapes."""
    key: str | None = None
    """That key, as a regular expression."""
    plain: bool = True
    """Whether every step may stand in an f-string."""


def key_step(key: str) -> str:
    """A regular expression of `["key"]`, in either kind of quotes where the key needs no escape."""
    return _keys_step([literally(key)]) if is_plain(key) else rf"\[{literally(ascii(key))}\]"


_AWKWARD = set("\"'\\`#{}")
"""Characters of a key that do not stand everywhere as they are: an f-string takes none of them."""


def is_plain(text: str) -> bool:
    """Whether it may stand between quotes of either kind as it is."""
    return text.isprintable() and not set(text) & _AWKWARD


def quoted_value(value: str) -> str:
    """A regular expression of the literals for a string, in either kind of quotes where it needs no escape."""
    if is_plain(value):
        return f"(?:\"{literally(value)}\"|'{literally(value)}')"
    return literally(ascii(value))


def _keys_step(keys: list[str]) -> str:
    plain = any_of(keys)
    return rf"\[(?:\"{plain}\"|'{plain}')\]"


def reach(found: Iterable[Place]) -> str | None:
    """A regular expression of the subscripts to these places; keys of one object stand together."""
    siblings: dict[str, list[str]] = {}
    texts: dict[str, None] = {}
    for place in found:
        if place.key is not None:
            siblings.setdefault(place.before, []).append(place.key)
        else:
            texts[place.suffix] = None
    return any_of([*texts, *(before + _keys_step(keys) for before, keys in siblings.items())])


def quiet(null: Null, calm: frozenset[Origin]) -> bool:
    """Whether nobody minds this None: the program wrote it, or a test has ruled it out."""
    return null.origin is None or null.origin in calm


def places(value: Type, calm: frozenset[Origin], origin: Origin | None = None) -> list[Place]:
    """What can be read in `value`, itself first, outer before inner."""
    found = [Place("", value, origin)]
    for place in found:
        if place.steps < MOST_STEPS and len(found) < MOST_PLACES:
            found.extend(_inner(place, calm))
    return found[:MOST_PLACES]


def loud(value: Type, calm: frozenset[Origin]) -> bool:
    """Whether the value may be a None that a use of it would fail on."""
    return any(isinstance(member, Null) and not quiet(member, calm) for member in members(value))


def solid(value: Type) -> tuple[Type, ...]:
    """The alternatives other than None."""
    return tuple(member for member in members(value) if not isinstance(member, Null))


def _inner(place: Place, calm: frozenset[Origin]) -> Iterator[Place]:
    """One step further down; nothing below what may be None."""
    value, steps = place.kind, place.steps + 1
    if value is ANY:
        yield Place(place.suffix + OPEN, ANY, None, MOST_STEPS, plain=place.plain)
        return
    alternatives = solid(value)
    if loud(value, calm) or not alternatives:
        return
    for key in _keys(alternatives):
        found = [(m, kind) for m in alternatives if (kind := _under(m, key)) is not None]
        where = next((m.origin.then(key) for m, _ in found if isinstance(m, Record)), None)
        plain = literally(key) if is_plain(key) else None
        value_there = join(*(kind for _, kind in found))
        even = place.plain and plain is not None
        yield Place(place.suffix + key_step(key), value_there, where, steps, place.suffix, plain, even)
    for more, kind in _rest(alternatives):
        yield Place(place.suffix + more, kind, None, steps, plain=place.plain)
    if all(isinstance(member, Array | Listing) for member in alternatives):
        items = [
            item_type(m) if isinstance(m, Array) else m.cell.item
            for m in alternatives
            if isinstance(m, Array | Listing)
        ]
        item = join(*items)
        if item is not NEVER and not any(isinstance(m, Listing) and m.kind == "set" for m in alternatives):
            where = next((m.origin.then(None) for m in alternatives if isinstance(m, Array)), None)
            yield Place(place.suffix + INDEX, item, where, steps, plain=place.plain)
    if isinstance(value, Tuple):
        for index, part in enumerate(value.items):
            yield Place(f"{place.suffix}\\[{index}\\]", part, None, steps, plain=place.plain)


def _keys(alternatives: tuple[Type, ...]) -> dict[str, None]:
    keys: dict[str, None] = {}
    for member in alternatives:
        if isinstance(member, Record):
            keys |= dict.fromkeys([*member.shape.properties, *(key for key, _ in member.refined)])
        elif isinstance(member, Mapped):
            keys |= dict.fromkeys(
                key for key in [*member.cell.keys, *(k for k, _ in member.refined)] if isinstance(key, str)
            )
        else:
            return {}
    return keys


def _under(member: Type, key: str) -> Type | None:
    match member:
        case Record():
            return field_type(member, key)
        case Mapped(cell, refined):
            known = dict(refined)
            return known[key] if key in known else cell.keys.get(key)
        case _:
            return None


def _rest(alternatives: tuple[Type, ...]) -> Iterator[tuple[str, Type]]:
    """What stands under keys that no schema names, in a map."""
    if len(alternatives) != 1:
        return
    match alternatives[0]:
        case Record(shape, origin) if not shape.closed and not shape.properties:
            yield KEY, convert(shape.more, shape.document, origin.then("*"))
        case _:
            return


@dataclass(frozen=True, slots=True)
class Kind:
    """What a value is good for in an expression. `name` is one of the words below, `nullable` whether it may be None.

    `any` stands for what is unknown and fits everywhere, `other` for what fits nowhere in particular.
    """

    name: str
    nullable: bool = False
    item: Type = ANY
    """Of a list."""
    values: tuple[str, ...] | None = None
    """The only ones of a string, where they are known and more than one."""
    free: bool = True
    """Whether a string may be anything: no list of values and no pattern is known of it."""
    fixed: bool = False
    """Whether it is a constant of the program."""


def kind_of(value: Type, calm: frozenset[Origin]) -> Kind:
    """What a value of this type is good for."""
    if value is ANY:
        return Kind("any")
    alternatives, nullable = solid(value), loud(value, calm)
    if not alternatives:
        return Kind("none", nullable=True)
    names = {_name(member) for member in alternatives}
    if len(names) > 1:
        return Kind("number" if names <= {"int", "number"} else "other", nullable)
    name = names.pop()
    if name == "list":
        return Kind("list", nullable, item=join(*(_item(member) for member in alternatives)))
    if name == "str":
        atoms = [member for member in alternatives if isinstance(member, Atom)]
        known = [atom.values for atom in atoms]
        values = tuple(v for some in known for v in some or ()) if all(some for some in known) else None
        free = all(atom.values is None and atom.pattern is None for atom in atoms)
        fixed = values is not None and len(values) == 1
        return Kind("str", nullable, values=None if fixed else values, free=free or fixed, fixed=fixed)
    return Kind(name, nullable)


def only_values(value: Type) -> tuple[str, ...]:
    """The texts that a value can be, where they are known."""
    return tuple(text for member in members(value) if isinstance(member, Atom) for text in member.values or ())


def _name(member: Type) -> str:
    match member:
        case Atom("int" | "bool" | "str" as name):
            return name
        case Atom("float" | "number"):
            return "number"
        case Array() | Listing():
            return "list"
        case Record():
            return "dict"
        case Mapped():
            return "map"
        case Tuple():
            return "tuple"
        case _:
            return "other"


def _item(member: Type) -> Type:
    match member:
        case Array():
            return item_type(member)
        case Listing(cell):
            return cell.item
        case _:
            return ANY
