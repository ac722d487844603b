"""What the checker knows about a value: `ANY` where it knows nothing, never more than what is certain."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from atc.check.known.frames import Frame
    from atc.check.known.shapes import ArrayShape, ObjectShape


NUMBERS = ("int", "float", "number", "bool")
"""Names of atoms that Python counts as numbers."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where in a tool's response a value stands: keys, and `None` for "an item of"."""

    tool: str
    path: tuple[str | None, ...] = ()

    def then(self, step: str | None) -> Origin:
        """The place one step further down."""
        return Origin(self.tool, (*self.path, step))

    def __str__(self) -> str:
        if not self.path:
            return f"the result of {self.tool}"
        *before, last = self.path
        rest = str(Origin(self.tool, tuple(before)))
        if last is None:
            return f"an item of {rest}"
        return f"{last!r} {'of' if before and before[-1] is None else 'in'} {rest}"


class Type:
    """One of the classes below."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Unknown(Type):
    """Anything: no finding may rest on it."""


@dataclass(frozen=True, slots=True)
class Nothing(Type):
    """No value at all: an item of a list that is still empty, the result of a function that only raises."""


ANY = Unknown()
NEVER = Nothing()


@dataclass(frozen=True, slots=True)
class Null(Type):
    """None. `origin` is set where a response schema allows it, and unset where the program itself wrote it.

    `shown` says that a test has just shown it to stand under a key of a response; `lapse` names a function of the
    program that gives it on some of its ways.
    """

    origin: Origin | None = None
    shown: bool = False
    lapse: str = ""


@dataclass(frozen=True, slots=True)
class KeyOf:
    """Says that a string came from iterating an object, at `node`, perhaps by mistake."""

    record: Record
    node: ast.expr


@dataclass(frozen=True, slots=True)
class Atom(Type):
    """A scalar: `str`, `int`, `float`, `number` (int or float), `bool` or `bytes`.

    `values` lists the only ones possible, where it is known; `pattern` is one that a schema says a string matches, or
    that the program makes it of. `reached` are values of which each certainly comes, one in each turn of the loop that
    is running; `loosely` says that data may leave some of them out (1), or choose one of them (2).
    `listed` says that a schema lists the values, not the program.
    """

    name: str
    values: tuple[Any, ...] | None = None
    key_of: KeyOf | None = None
    pattern: str | None = None
    reached: tuple[Any, ...] = ()
    loosely: int = 0
    listed: bool = False


STR, INT, FLOAT, NUMBER, BOOL, BYTES = (Atom(n) for n in ("str", "int", "float", "number", "bool", "bytes"))
NONE = Null()


@dataclass(frozen=True, slots=True)
class Record(Type):
    """A JSON object as a schema describes it.

    `refined` holds what tests in the program have shown of single keys; `calm` says that some test may have ruled out
    its nulls.
    """

    shape: ObjectShape
    origin: Origin
    refined: tuple[tuple[str, Type], ...] = ()
    calm: bool = False

    def refine(self, key: str, value: Type) -> Record:
        """The same object with `key` known to be `value`."""
        kept = tuple(pair for pair in self.refined if pair[0] != key)
        return Record(self.shape, self.origin, (*kept, (key, value)), self.calm)


@dataclass(frozen=True, slots=True)
class Array(Type):
    """A JSON array as a schema describes it."""

    shape: ArrayShape
    origin: Origin
    calm: bool = False


@dataclass(eq=False, slots=True)
class ListCell:
    """What one place in the program that makes a list, set or deque has put into it. Only grows."""

    item: Type = NEVER


@dataclass(eq=False, slots=True)
class DictCell:
    """What one place in the program that makes a dict has put into it. Only grows.

    `keys` are the constant keys, `key` and `value` what came under computed ones; `open` says that there are such.
    """

    keys: dict[Any, Type] = field(default_factory=dict)
    open: bool = False
    key: Type = NEVER
    value: Type = NEVER
    first: frozenset[str] = frozenset()
    """Constant keys that it has from the start."""
    begun: bool = False
    """Whether `first` is known."""
    shrunk: bool = False
    """Whether keys are taken out of it somewhere."""
    merged: bool = False
    """Whether it took over every key of an object of a response."""
    default: Type | None = None
    """What a missing key gives (`defaultdict`, `Counter`)."""


@dataclass(frozen=True, slots=True)
class Listing(Type):
    """A list (or set, deque) that the program made."""

    cell: ListCell
    kind: str = "list"


@dataclass(frozen=True, slots=True)
class Mapped(Type):
    """A dict that the program made."""

    cell: DictCell
    refined: tuple[tuple[Any, Type], ...] = ()
    stored: frozenset[str] = frozenset()
    """Constant keys that were certainly set in it since it was made."""


@dataclass(frozen=True, slots=True)
class Tuple(Type):
    """A tuple of known length, or such a list (what `asyncio.gather` gives)."""

    items: tuple[Type, ...]
    kind: str = "tuple"


@dataclass(frozen=True, slots=True)
class Iterating(Type):
    """An iterator or view: generator, `zip`, `map`, `dict.items()`, `range`."""

    item: Type
    kind: str = "iterator"


SIZED = ("range", "dict_keys", "dict_values", "dict_items")
"""Kinds of `Iterating` that have a length: the others are used up by one pass."""


@dataclass(frozen=True, slots=True)
class Awaitable(Type):
    """What gives `result` when awaited."""

    result: Type


@dataclass(frozen=True, slots=True)
class ToolRef(Type):
    """A tool itself, not yet called."""

    alias: str


@dataclass(frozen=True, slots=True)
class Library(Type):
    """A builtin (`len`), module (`json`) or a name in a module (`collections.Counter`)."""

    name: str


@dataclass(frozen=True, slots=True)
class Getter(Type):
    """What `operator.itemgetter(key, …)` or `attrgetter(name, …)` gives; `places` are the arguments of that call."""

    keys: tuple[Any, ...]
    places: tuple[ast.expr, ...]
    attributes: bool
    node: ast.Call


@dataclass(frozen=True, slots=True)
class Function(Type):
    """A function or lambda of the program, with the frame that it closes over."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    frame: Frame


@dataclass(frozen=True, slots=True)
class Union(Type):
    """One of two or more types, none of them a Union, `ANY` or `NEVER`."""

    members: tuple[Type, ...]
