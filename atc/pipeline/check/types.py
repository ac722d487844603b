"""Types that the static check infers for the values of a program.

A type is a value of a class in this module, such as `Atom` or `Record`. It states only what is
certain; `ANY` means that nothing is known about a value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from atc.pipeline.check.budget import spend
from atc.pipeline.check.response_location import ResponseLocation
from atc.pipeline.check.selection import Selection
from protocols.schema import JsonObject

NUMBERS = ("int", "float", "number", "bool")
"""Names of the `Atom` types that Python treats as numbers."""
MOST_VALUES = 64
_MOST_MEMBERS = 8
MOST_SIZE = 1_000
"""Maximum size of a type, that is, how many types it consists of.

A type that occurs several times counts each time: `x = (x, x)` doubles the size, and every
comparison of types visits all of them.
"""


class Type:
    """Base class of all types that the check infers."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Extreme(Type):
    """One of two special types: `ANY`, which every value has, or `NEVER`, which no value has."""

    name: str


ANY = Extreme("anything")
"""The type of a value about which nothing is known. No finding may be based on it."""
NEVER = Extreme("nothing")
"""The type without values, such as that of the items of an empty list."""


@dataclass(frozen=True, slots=True)
class Null(Type):
    """The type of None.

    `origin` is set if a response schema allows null, and None if the program itself wrote `None`.
    """

    origin: ResponseLocation | None = None


@dataclass(frozen=True, slots=True)
class KeyOf:
    """A mark in the type of a string, which says that the string is a key of an object.

    The program got the string by iterating the object `record` at `node`, perhaps by mistake.
    """

    record: Record
    node: ast.expr


@dataclass(frozen=True, slots=True)
class Atom(Type):
    """The type of a scalar: `str`, `int`, `float`, `number` (int or float), `bool` or `bytes`.

    `values` lists the only possible values if they are known; `listed` is True if a schema lists
    them, False if they are constants of the program. `pattern` is a regular expression from a
    schema that the string matches; `form` is its schema format, such as `date`, or `text`, if the
    schema shows that it is no number. `key_of` is set if the string is a key of an iterated object.
    """

    name: str
    values: tuple[Any, ...] | None = None
    key_of: KeyOf | None = None
    pattern: str | None = None
    listed: bool = False
    form: str | None = None


STR, INT, FLOAT, NUMBER, BOOL = (Atom(n) for n in ("str", "int", "float", "number", "bool"))
NONE = Null()


@dataclass(eq=False)
class ResponseSchema:
    """The response schema of one tool, with caches of the types derived from it.

    `strict` is True for a declared schema, False for an inferred one. An object of a strict schema
    has only the keys that the schema names, unless the schema explicitly allows others. If
    `lists_values` is True, a string can only be one of the values in its enum.
    """

    root: JsonObject
    strict: bool
    lists_values: bool = True
    shapes: dict[tuple[int, ...], Any] = field(default_factory=dict)
    """Cached object and array shapes, keyed by the ids of the schemas that apply together."""
    branches: dict[int, tuple[Any, list[list[JsonObject]] | None]] = field(default_factory=dict)
    """Cached alternatives of schemas, keyed by the id of the schema, which is stored with them."""
    types: dict[tuple[int, ResponseLocation], Type] = field(default_factory=dict)
    """Cached types, keyed by the id of a schema and the position of the value."""


@dataclass(eq=False)
class ObjectShape:
    """The part of a response schema for a JSON object: its keys, and the schemas of their values.

    `more` is the schema of all keys that are not in `properties`, or False if there can be none.
    """

    document: ResponseSchema
    properties: Mapping[str, Any]
    more: Any
    filled: bool = False
    """True if the schema requires at least one key, so that the object is truthy."""

    @property
    def is_always_true(self) -> bool:
        """True if a declared schema says that the object is truthy."""
        return self.filled and self.document.strict

    @property
    def is_closed(self) -> bool:
        """True if the object cannot have keys outside `properties`."""
        return self.more is False


@dataclass(eq=False)
class ArrayShape:
    """The part of a response schema for a JSON array: the schema of its items."""

    document: ResponseSchema
    items: Any


@dataclass(frozen=True, slots=True)
class Record(Type):
    """The type of a JSON object in a response, as the response schema describes it.

    `refined` holds more precise types of single keys, learned from conditions in the program.
    `null_checked` is True if a condition of the program may have excluded nulls inside the object.
    `selection` is what the arguments of the call name; it is set only if weak evidence is ignored.
    """

    shape: ObjectShape
    origin: ResponseLocation
    refined: tuple[tuple[str, Type], ...] = ()
    null_checked: bool = False
    selection: Selection | None = None
    size: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", 1 + sum(size(part) for _, part in self.refined))


@dataclass(frozen=True, slots=True)
class Array(Type):
    """The type of a JSON array in a response, as the response schema describes it."""

    shape: ArrayShape
    origin: ResponseLocation
    null_checked: bool = False
    selection: Selection | None = None


@dataclass(eq=False, slots=True)
class ListCell:
    """The type of the items of all lists, sets or deques that one expression creates."""

    item: Type = NEVER


@dataclass(eq=False, slots=True)
class DictCell:
    """The known contents of the dicts that one expression of the program creates.

    `keys` maps constant keys to the types of their values. `open` is True if there are computed
    keys too; `key` and `value` are then the types of these keys and their values. The types are
    only ever widened.
    """

    keys: dict[Any, Type] = field(default_factory=dict)
    open: bool = False
    key: Type = NEVER
    value: Type = NEVER
    first: frozenset[str] = frozenset()
    """Constant keys that the dict has when it is created."""
    default: Type | None = None
    """Type of the value of a missing key (`defaultdict`, `Counter`), or None without a default."""


@dataclass(frozen=True, slots=True)
class Listing(Type):
    """The type of a list, set, deque or tuple that the program created, of unknown length.

    `kind` says which of these it is, and `cell` holds the type of its items.
    """

    cell: ListCell
    kind: str = "list"


@dataclass(frozen=True, slots=True)
class Mapped(Type):
    """The type of a dict that the program created, in contrast to an object of a response.

    `refined` holds more precise types of single keys; it is ignored if the dict has computed keys.
    """

    cell: DictCell
    refined: tuple[tuple[str, Type], ...] = ()
    size: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", 1 + sum(size(part) for _, part in self.refined))


@dataclass(frozen=True, slots=True)
class Tuple(Type):
    """The type of a tuple of known length."""

    items: tuple[Type, ...]
    size: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", 1 + sum(map(size, self.items)))


@dataclass(frozen=True, slots=True)
class Iterating(Type):
    """The type of an iterator or view: a generator, `zip`, `map`, `dict.items()` or `range`."""

    item: Type
    kind: str = "iterator"
    size: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", 1 + size(self.item))


SIZED = ("range", "dict_keys", "dict_values", "dict_items")
"""Kinds of `Iterating` that have a length. All other kinds can be iterated only once."""


@dataclass(frozen=True, slots=True)
class ToolRef(Type):
    """The type of a tool that the program uses as a value, without calling it."""

    alias: str


@dataclass(frozen=True, slots=True)
class Library(Type):
    """The type of a builtin (`len`), a module (`json`) or a name in it (`collections.Counter`)."""

    name: str


TOOL_ERROR = Library("ToolError()")
"""The type of `error` in `except ToolError as error`."""


@dataclass(frozen=True, slots=True)
class Function(Type):
    """The type of a function or lambda of the program.

    `frame` is the frame (`interpreter.ScopeFrame`) in which it was defined.
    """

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    frame: Any


@dataclass(frozen=True, slots=True)
class Union(Type):
    """The type of a value that has one of several types.

    None of these types is itself a `Union`, `ANY` or `NEVER`.
    """

    members: tuple[Type, ...]
    size: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", sum(map(size, self.members)))


def size(value: Type) -> int:
    """Return how many types a type contains. The time for comparing two types grows with it."""
    return getattr(value, "size", 1)


def members(value: Type) -> tuple[Type, ...]:
    """Return the types that a value of this type may have: the members of a Union, or itself."""
    return value.members if isinstance(value, Union) else (value,)


def join(*values: Type) -> Type:
    """Return the union of several types: the type of a value that may have any of them."""
    if len(values) == 1 or (len(values) == 2 and values[0] is values[1]):
        return values[0]
    found: list[Type] = []
    for value in values:
        for member in members(value):
            if member is ANY:
                return ANY
            spend(1 + len(found) * size(member))
            if member is not NEVER and member not in found:
                _add(found, member)
            if len(found) > _MOST_MEMBERS:
                return ANY
    if not found:
        return NEVER
    return found[0] if len(found) == 1 else Union(tuple(found))


def join_all(values: Iterable[Type]) -> Type:
    """Return the union of the types in an iterable: the type of a value that may have any."""
    return join(*values)


def _add(found: list[Type], new: Type) -> None:
    """Add `new` to the union members in `found`, merged with an existing one if possible."""
    for index, old in enumerate(found):
        merged = _merge(old, new)
        if merged is not None:
            found[index] = merged
            return
    found.append(new)


def _merge(old: Type, new: Type) -> Type | None:
    """Return one type that covers both `old` and `new`, or None if they cannot be merged.

    Both are members of a union. The merged type may be less precise than they are, but not in a way
    that matters to findings.
    """
    match old, new:
        case Atom(), Atom():
            return _merge_atoms(old, new)
        case Record(), Record() if old.shape is new.shape:
            return replace(old, refined=_common(old, new), **_common_marks(old, new))
        case Mapped(cell), Mapped() if cell is new.cell:
            return Mapped(cell, _common(old, new))
        case Array(), Array() if old.shape is new.shape:
            return replace(old, **_common_marks(old, new))
        case Null(), Null():
            # If the program itself also writes None, it expects None: do not report it.
            return Null(old.origin if old.origin and new.origin else None)
        case _:
            return None


def _common_marks(old: Record | Array, new: Record | Array) -> dict[str, Any]:
    """Return `null_checked` and `selection` of a value that has one of two types."""
    known = [one.selection for one in (old, new) if one.selection is not None]
    joined = known[0] | known[-1] if known else None
    return {"null_checked": old.null_checked and new.null_checked, "selection": joined}


def _common(old: Record | Mapped, new: Record | Mapped) -> tuple[tuple[str, Type], ...]:
    """Return the `refined` types of single keys that two dict types have in common."""
    if old.refined is new.refined:
        return old.refined
    spend(2 * (len(old.refined) + len(new.refined)))
    known = dict(new.refined)
    return tuple(pair for pair in old.refined if pair[0] in known and known[pair[0]] == pair[1])


def _merge_atoms(old: Atom, new: Atom) -> Atom | None:
    if old.name != new.name:
        return None
    key_of = old.key_of if old.key_of == new.key_of else None
    pattern = old.pattern if old.pattern == new.pattern else None
    if old.values is None or new.values is None:
        return Atom(old.name, None, key_of, pattern)
    spend(len(old.values) + len(new.values))
    values = tuple(dict.fromkeys(old.values + new.values))
    return Atom(
        old.name,
        values if len(values) <= MOST_VALUES else None,
        key_of,
        pattern,
        old.listed and new.listed,
    )
