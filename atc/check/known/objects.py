"""What the checker knows about objects: of the program's own classes, of the standard library, and bound methods."""

from __future__ import annotations

from dataclasses import dataclass, field

from atc.check.known.kinds import ANY, Function, Mapped, Type


@dataclass(frozen=True, slots=True)
class Made(Type):
    """An object of the standard library, by the name of its class; `inner` is what it gives in the end (a future)."""

    name: str
    inner: Type = ANY


@dataclass(frozen=True, slots=True)
class Partial(Type):
    """What `functools.partial(callee, …)` gives; `known` are the arguments passed so far, by name or position."""

    callee: Type
    positional: tuple[Type, ...] = ()
    known: tuple[tuple[str, Type], ...] = ()


@dataclass(frozen=True, slots=True)
class Looking(Type):
    """The method `get` of a dict that the program made, not yet called (`max(d, key=d.get)`)."""

    owner: Mapped


@dataclass(eq=False, slots=True)
class ClassShape:
    """A class of the program. `attributes` is what its instances hold, all of them together, and only grows.

    `members` is what its body binds, each with how instances give it: as a `value`, a `method`, a `property`, a
    `static` or a `class` method.
    """

    name: str
    members: dict[str, tuple[str, Type]] = field(default_factory=dict)
    attributes: dict[str, Type] = field(default_factory=dict)
    fields: tuple[str, ...] | None = None
    """The parameters of a dataclass or named tuple, in order."""
    ordered: bool = False
    """Whether instances are tuples of their fields."""
    plain: bool = False
    """Whether its `fields` are exactly the parameters of its constructor."""
    frozen: bool = False
    """Whether its fields cannot be set again."""
    made: bool = False
    """Whether the program has made an instance."""


@dataclass(frozen=True, slots=True)
class Class(Type):
    """A class of the program itself."""

    shape: ClassShape


@dataclass(frozen=True, slots=True)
class Instance(Type):
    """An object of a class of the program. `refined` is what tests have shown of its attributes."""

    shape: ClassShape
    refined: tuple[tuple[str, Type], ...] = ()


@dataclass(frozen=True, slots=True)
class Bound(Type):
    """A method with the object that it was taken from."""

    function: Function
    owner: Type
