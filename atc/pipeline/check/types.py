"""What the check knows about a value: `ANY` where it knows nothing, never more than what is certain."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from atc.core.messages import format_list
from atc.pipeline.check.budget import spend
from protocols.schema import JsonObject

NUMBERS = ("int", "float", "number", "bool")
"""Names of atoms that Python counts as numbers."""
MOST_VALUES = 64
_MOST_MEMBERS = 8
_LONGEST_INTEGER = 10_000
"""Bits of an integer that is known by its value: Python writes no longer one in decimal."""
MOST_SIZE = 1_000
"""Parts of a type, each counted as often as it is there: `x = (x, x)` doubles them, and each comparison reads all."""


@dataclass(frozen=True, slots=True)
class ResponsePlace:
    """Where in a tool's response a value stands: keys, and `None` for "an item of"."""

    tool: str
    path: tuple[str | None, ...] = ()

    def then(self, step: str | None) -> ResponsePlace:
        """The place one step further down."""
        return ResponsePlace(self.tool, (*self.path, step))

    def __str__(self) -> str:
        if not self.path:
            return f"the result of {self.tool}"
        *before, last = self.path
        rest = str(ResponsePlace(self.tool, tuple(before)))
        if last is None:
            return f"an item of {rest}"
        return f"{last!r} {'of' if before and before[-1] is None else 'in'} {rest}"


class Type:
    """One of the classes below."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Extreme(Type):
    """Anything at all, or nothing."""

    name: str


ANY = Extreme("anything")
"""No finding may rest on it."""
NEVER = Extreme("nothing")
"""An item of a list that is still empty, the result of a function that only raises."""


@dataclass(frozen=True, slots=True)
class Null(Type):
    """None. `origin` is set where a response schema allows it, and unset where the program itself wrote it."""

    origin: ResponsePlace | None = None


@dataclass(frozen=True, slots=True)
class KeyOf:
    """Says that a string came from iterating an object, at `node`, perhaps by mistake."""

    record: Record
    node: ast.expr


@dataclass(frozen=True, slots=True)
class Atom(Type):
    """A scalar: `str`, `int`, `float`, `number` (int or float), `bool` or `bytes`.

    `values` lists the only ones possible, where it is known; `listed` says that a schema lists them, not the program.
    `pattern` is one that a schema says a string matches, `form` such a format: `date`.
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
    """One response schema and how far it is believed.

    `strict` (a declared schema) means that its objects have no other keys than it names, unless it says so.
    """

    root: JsonObject
    strict: bool
    shapes: dict[tuple[int, ...], Any] = field(default_factory=dict)
    """Of objects and arrays, by the identities of the schemas that hold together."""
    branches: dict[int, tuple[Any, list[list[JsonObject]] | None]] = field(default_factory=dict)
    """By the identity of a schema, beside the schema itself, which must live as long as its identity is used."""
    types: dict[tuple[int, ResponsePlace], Type] = field(default_factory=dict)
    """By the identity of a schema and where it stands."""


@dataclass(eq=False)
class ObjectShape:
    """The keys of an object. `more` is the schema of the keys that are not named, False where there can be none."""

    document: ResponseSchema
    properties: Mapping[str, Any]
    more: Any
    filled: bool = False
    """Whether some key is always there, so that the object is never false."""

    @property
    def is_closed(self) -> bool:
        """Whether a key that is not in `properties` cannot be there."""
        return self.more is False


@dataclass(eq=False)
class ArrayShape:
    """The items of an array."""

    document: ResponseSchema
    items: Any


@dataclass(frozen=True, slots=True)
class Record(Type):
    """A JSON object as a schema describes it.

    `refined` holds what tests in the program have shown of single keys; `calm` says that some test may have ruled out
    its nulls.
    """

    shape: ObjectShape
    origin: ResponsePlace
    refined: tuple[tuple[str, Type], ...] = ()
    null_checked: bool = False
    size: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", 1 + sum(size(part) for _, part in self.refined))


@dataclass(frozen=True, slots=True)
class Array(Type):
    """A JSON array as a schema describes it."""

    shape: ArrayShape
    origin: ResponsePlace
    null_checked: bool = False


@dataclass(eq=False, slots=True)
class ListCell:
    """What one place in the program that makes a list, set or deque has put into it. Only grows."""

    item: Type = NEVER


@dataclass(eq=False, slots=True)
class DictCell:
    """What one place in the program that makes a dict has put into it. Only grows.

    `keys` are the constant keys, `value` what came under computed ones; `open` says that there are such.
    """

    keys: dict[Any, Type] = field(default_factory=dict)
    open: bool = False
    key: Type = NEVER
    value: Type = NEVER
    first: frozenset[str] = frozenset()
    """Constant keys that it has from the start."""
    default: Type | None = None
    """What a missing key gives (`defaultdict`, `Counter`)."""


@dataclass(frozen=True, slots=True)
class Listing(Type):
    """A list (or set, deque) that the program made."""

    cell: ListCell
    kind: str = "list"


@dataclass(frozen=True, slots=True)
class Mapped(Type):
    """A dict that the program made; of one that may have any key, what `refined` holds is not used."""

    cell: DictCell
    refined: tuple[tuple[str, Type], ...] = ()
    size: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", 1 + sum(size(part) for _, part in self.refined))


@dataclass(frozen=True, slots=True)
class Tuple(Type):
    """A tuple of known length."""

    items: tuple[Type, ...]
    size: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", 1 + sum(map(size, self.items)))


@dataclass(frozen=True, slots=True)
class Iterating(Type):
    """An iterator or view: generator, `zip`, `map`, `dict.items()`, `range`."""

    item: Type
    kind: str = "iterator"
    size: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", 1 + size(self.item))


SIZED = ("range", "dict_keys", "dict_values", "dict_items")
"""Kinds of `Iterating` that have a length: the others are used up by one pass."""


@dataclass(frozen=True, slots=True)
class ToolRef(Type):
    """A tool itself, not yet called."""

    alias: str


@dataclass(frozen=True, slots=True)
class Library(Type):
    """A builtin (`len`), module (`json`) or a name in a module (`collections.Counter`)."""

    name: str


TOOL_ERROR = Library("ToolError()")
"""What `except ToolError as error` gives."""


@dataclass(frozen=True, slots=True)
class Function(Type):
    """A function or lambda of the program, with the frame (`env.Frame`) that it closes over."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    frame: Any


@dataclass(frozen=True, slots=True)
class Union(Type):
    """One of two or more types, none of them a Union, `ANY` or `NEVER`."""

    members: tuple[Type, ...]
    size: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", sum(map(size, self.members)))


def size(value: Type) -> int:
    """How many parts a type has, as they are read one after another where two types are compared."""
    return getattr(value, "size", 1)


def members(value: Type) -> tuple[Type, ...]:
    """The alternatives of a type."""
    return value.members if isinstance(value, Union) else (value,)


def join(*values: Type) -> Type:
    """The type of something that may be any of `values`."""
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
    """`join` of an iterable."""
    return join(*values)


def _add(found: list[Type], new: Type) -> None:
    for index, old in enumerate(found):
        merged = _merge(old, new)
        if merged is not None:
            found[index] = merged
            return
    found.append(new)


def _merge(old: Type, new: Type) -> Type | None:
    """One type for both where nothing that matters is lost, else None."""
    match old, new:
        case Atom(), Atom():
            return _merge_atoms(old, new)
        case Record(), Record() if old.shape is new.shape:
            return Record(
                old.shape, old.origin, _common(old, new), old.null_checked and new.null_checked
            )
        case Mapped(cell), Mapped() if cell is new.cell:
            return Mapped(cell, _common(old, new))
        case Array(), Array() if old.shape is new.shape:
            return Array(old.shape, old.origin, old.null_checked and new.null_checked)
        case Null(), Null():
            # None that the program wrote beside one of a schema: the program thought of None, so say nothing.
            return Null(old.origin if old.origin and new.origin else None)
        case _:
            return None


def _common(old: Record | Mapped, new: Record | Mapped) -> tuple[tuple[str, Type], ...]:
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


def keep_matching(value: Type, wanted: Callable[[Type], bool]) -> Type:
    """The alternatives of `value` for which `wanted` holds; `ANY` where none does, since then we misunderstood."""
    kept = [member for member in members(value) if wanted(member)]
    return join(*kept) if kept else ANY


def not_none(value: Type) -> Type:
    """`value` after a test that excludes None."""
    return (
        keep_matching(value, lambda member: not isinstance(member, Null))
        if isinstance(value, Union)
        else value
    )


def assume_not_none(value: Type) -> Type:
    """`value` where a test has shown that it is not None: what is None alone never gets there."""
    return NEVER if isinstance(value, Null) else not_none(value)


def forget_constants(value: Type) -> Type:
    """`value` of which only the kind is known, no longer its constants."""
    return join_all(
        Atom(m.name) if isinstance(m, Atom) and m.values is not None else m for m in members(value)
    )


def type_of_constant(value: Any) -> Type:
    """The type of a constant."""
    if value is None:
        return NONE
    name = type(value).__name__
    if isinstance(value, int) and value.bit_length() > _LONGEST_INTEGER:
        return INT
    return Atom(name, (value,)) if name in ("str", "int", "float", "bool", "bytes") else ANY


def constant(value: Type) -> Any:
    """The only value possible, where it is known; else None."""
    return (
        value.values[0]
        if isinstance(value, Atom) and value.values and len(value.values) == 1
        else None
    )


_ATOMS = {
    "str": "a string",
    "bool": "a bool",
    "int": "an integer",
    "float": "a number",
    "number": "a number",
}
_MOST_SHOWN = 6


def category(value: Type) -> str | None:
    """`number`, `str`, `list`, `dict`, `tuple` or `function` if every alternative is of it, else None."""
    found = {_category(member) for member in members(value)}
    return found.pop() if len(found) == 1 else None


def _category(member: Type) -> str | None:
    match member:
        case Atom("str"):
            return "str"
        case Atom(name) if name in NUMBERS:
            return "number"
        case Array() | Listing(kind="list"):
            return "list"
        case Record():
            return "dict"
        case Tuple():
            return "tuple"
        case ToolRef() | Function():
            return "function"
        case _:
            return None


_JSON = {
    "str": {"string"},
    "list": {"array"},
    "tuple": {"array"},
    "dict": {"object"},
    "number": {"integer", "number"},
}


def json_types(value: Type) -> set[str] | None:
    """The JSON types that a value can have; None where nobody knows."""
    match value:
        case Mapped():
            return {"object"}
        case Null():
            return {"null"}
        case Atom("bool"):
            return {"boolean"}
        case _:
            return _JSON.get(
                category(value) or ""
            )  # a float may be whole, and so an integer to JSON


def describe_value(value: Type) -> str:
    """What a value is, in words; of several alternatives the first."""
    match members(value)[0]:
        case Atom(name):
            return _ATOMS.get(name, name)
        case Record(origin=origin):
            return f"an object ({origin})"
        case Array(origin=origin):
            return f"a list ({origin})"
        case Mapped():
            return "a dict"
        case Listing(kind=kind) | Iterating(kind=kind):
            return f"a {kind}"
        case Tuple():
            return "a tuple"
        case ToolRef() | Function():
            return "a function that was not called"
        case Null():
            return "None"
        case _:
            return "a value of another kind"


def describe_value_in_detail(value: Type) -> str:
    """What a value is, and its values or form where they are known."""
    if isinstance(value, Atom) and value.values is not None and len(value.values) <= _MOST_SHOWN:
        return format_list([repr(known) for known in value.values])
    if isinstance(value, Atom) and value.pattern is not None:
        return f"a string that matches the pattern {value.pattern!r}"
    return describe_value(value)
