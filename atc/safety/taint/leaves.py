"""The sensitive values of a call, and types that describe a value before its kind is decided.

A sensitive value is called a leaf: a text, a number or a boolean, at any depth of an argument.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from atc.core.json_paths import KEY, JsonPath, PathStep, format_json_path
from atc.safety.taint.guesses import Sensitivity
from atc.safety.taint.pairs import NamedFields
from protocols.schema import Json

SensitiveKind = Sensitivity | Literal["unit", "opaque"]
"""A kind that a schema can declare, or one that is only guessed: the unit of an amount (`unit`), or
a text that cannot be read (`opaque`).
"""
_MOST_WORK = 10_000
"""Maximum work for one argument, which takes about a second. An ordinary value costs 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A sensitive value of a call: a text, number or boolean at any depth of an argument.

    `argument` is the argument's original name, and `path` are the steps to the value in it. The
    name of a field may be a sensitive value, too, if no schema declares the field, since the
    program then chose the name. The path of such a name ends with `KEY`.
    """

    argument: str
    path: JsonPath
    value: Json
    kind: SensitiveKind
    within: str | None = None
    """The text that contains the value, if the value is only a part of a text."""

    @property
    def place(self) -> str:
        """The argument and the path to the value in it, such as `message.to[0]`."""
        named = self.path[:-1] if self.path[-1:] == (KEY,) else self.path
        suffix = " (a key)" if named != self.path else ""
        return format_json_path((self.argument, *named)) + suffix


@dataclass(frozen=True, slots=True)
class Position:
    """The position of a value in an argument, and what the surrounding values say about it.

    `name` is the name from which the value's kind is guessed: that of its field, or of the list
    around it.
    """

    argument: str
    path: JsonPath
    name: str
    within: str | None = None
    """The text that contains the value, see `Leaf.within`."""
    named: NamedFields = field(default_factory=NamedFields)
    """The sensitive fields that texts in the call name, as in `{"field": "amount", "value": 5}`."""
    is_loose: bool = False
    """True if no schema describes the value. Then it may be the value of any field in `named`."""

    def below(
        self, step: PathStep, name: str | None = None, *, is_loose: bool | None = None
    ) -> Position:
        """Return the position of a member or an item of the value at this position.

        `step` is the key or index of the member or item. Without `name` or `is_loose`, the new
        position has the same ones as this position.
        """
        loose = self.is_loose if is_loose is None else is_loose
        return replace(self, path=(*self.path, step), name=name or self.name, is_loose=loose)

    def leaf(self, value: Json, kind: SensitiveKind) -> Leaf:
        """Return a `Leaf` for the value at this position: a sensitive value of this kind."""
        return Leaf(
            argument=self.argument, path=self.path, value=value, kind=kind, within=self.within
        )


@dataclass(frozen=True, slots=True)
class Mark:
    """The sensitive kind, if any, that a schema or a name gives to a value.

    It also applies to all values within the value. `declared` is True if a schema declares the kind
    with `x-atc-sensitive`. If `kind` is None then, the schema declares `false`, and nothing is
    guessed about the values within. `inherited` is True if the kind was guessed from the name of an
    object or list around the value.
    """

    kind: Sensitivity | None = None
    declared: bool = False
    inherited: bool = False

    @property
    def is_unknown(self) -> bool:
        """True if neither a schema nor a name says whether the value is sensitive."""
        return self.kind is None and not self.declared


class TooMuchWork(Exception):
    """Raised if an argument is too large or too deep for each of its values to be judged."""


class WorkBudget:
    """A limit on the work that is done to check one argument."""

    def __init__(self) -> None:
        self._left = _MOST_WORK

    def spend(self, work: int) -> None:
        """Count work that is about to be done towards the limit.

        Raises:
            TooMuchWork: the limit is exceeded.
        """
        self._left -= work
        if self._left < 0:
            raise TooMuchWork
