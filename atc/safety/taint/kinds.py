"""Decision of whether an argument value is sensitive, and its kind: `recipient`, `amount` etc.

The schema of the argument can declare the kind. Otherwise it is guessed from names and values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import get_args

from atc.safety.taint.guarantees import Guarantees
from atc.safety.taint.guesses import Guesses, Sensitivity, may_be_part_of_amount
from atc.safety.taint.leaves import Leaf, Mark, Position, SensitiveKind
from atc.safety.taint.units import is_unit, is_unit_field, is_unit_flag
from atc.safety.taint.values import number
from protocols.schema import Json, JsonObject

SENSITIVE = "x-atc-sensitive"
"""The schema keyword that declares the kind of a sensitive argument, or `false` for a harmless one.
"""
_DATE_FORMATS = frozenset({"date", "date-time", "time", "duration"})
_DATE_OR_TIME = re.compile(
    r"[+-]?P(?=.)(?:\d+[.,]?\d*[YMWD])*(?:T(?:\d+[.,]?\d*[HMS])+)?"
    r"|\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d[\d:.Zz+-]*)?|\d\d:\d\d[\d:.Zz+-]*",
    re.ASCII,
)
_OWN_PATH = re.compile(r"/(?:[\w-][\w./-]*)?", re.ASCII)
"""A path on the service's own host, such as `/about`."""


class ArgumentKinds:
    """Decides which values of one argument are sensitive, and their kind.

    `schema` is the argument's schema. `root` is the schema in which its references are looked up.
    """

    def __init__(self, guess: Guesses, schema: Json, root: JsonObject, value: Json) -> None:
        self._guess = guess
        self._guarantees = Guarantees(schema, root, value)

    def mark(self, position: Position, here: list[JsonObject], above: Mark) -> Mark:
        """Return the `Mark` of a value: the sensitive kind that its schema or name gives.

        `here` are the schemas that may apply to the value. If one of them declares a kind, that is
        the kind; an unknown word counts as the strictest kind, `command`. A value is declared as
        harmless (`false`) only if every alternative of the schema says so. `above` is the mark of
        the object or list around the value, which the value inherits if it has no mark itself.
        """
        declared = [branch[SENSITIVE] for branch in here if branch.get(SENSITIVE) is not None]
        for word in declared:
            if word is not False:
                return Mark(word if word in get_args(Sensitivity) else "command", declared=True)
        if (
            declared
            and position.within is None
            and self._guarantees.has_guaranteed_keyword(position.path, SENSITIVE, False)
        ):
            return Mark(declared=True)
        if above.declared:
            return above
        kind = self._guess.field_kind(position.name, here)
        return Mark(kind) if kind is not None else Mark(above.kind, inherited=True)

    def iter_leaf(
        self, position: Position, value: Json, mark: Mark, here: list[JsonObject]
    ) -> Iterator[Leaf]:
        """Yield a value of the argument as a `Leaf` if the value is sensitive, else nothing."""
        kind: SensitiveKind | None = mark.kind
        if not mark.declared:
            kind = self._guess_kind(position, value, mark, here)
        if kind is not None and (kind != "amount" or self._guess.acts):
            yield position.leaf(value, kind)

    def _guess_kind(
        self, position: Position, value: Json, mark: Mark, here: list[JsonObject]
    ) -> SensitiveKind | None:
        """Guess the sensitive kind of a value whose schema declares none; None if not sensitive."""
        if self._is_unit_by_name(position, value):
            return "unit"
        if isinstance(value, bool):
            return None
        kind = None
        if not self._is_listed_or_date(position, value, mark, here):
            kind = self._kind_by_name(position, value, mark) or position.named.guess_kind(
                position.path, position.name, value, is_loose=position.is_loose
            )
        if kind is not None or not isinstance(value, str):
            return kind
        if self._is_unit_by_value(position, value):
            return "unit"
        return self._guess.value_kind(position.name, here, value)

    def _is_listed_or_date(
        self, position: Position, value: Json, mark: Mark, here: list[JsonObject]
    ) -> bool:
        """Return True if the schema lists the value (`enum`), or declares a date and it is one.

        The name of such a value does not make it sensitive: a date in the field `to` is not a
        recipient. A time counts as a date. If the name of a field is that of an amount, a text in
        it never counts as a date.
        """
        if position.within is None and self._guarantees.is_listed(position.path):
            return True
        if mark.kind == "amount" or not isinstance(value, str):
            return False
        is_date = any(branch.get("format") in _DATE_FORMATS for branch in here)
        return is_date and _DATE_OR_TIME.fullmatch(value) is not None

    def _kind_by_name(self, position: Position, value: Json, mark: Mark) -> Sensitivity | None:
        """Return the sensitive kind that a value's name suggests, if the value can be of this kind.

        A path such as `/about` leads to no other host, so it is not a `url`. A text in an object
        that is named as an amount is an amount only if it contains a number.
        """
        if mark.kind == "url" and isinstance(value, str) and _OWN_PATH.fullmatch(value):
            return None
        if mark.kind != "amount" or not isinstance(value, str):
            return mark.kind
        if not mark.inherited or number(value) is not None:
            return "amount" if value.strip() else None
        return "amount" if may_be_part_of_amount(position.name, value) else None

    def _is_unit_by_name(self, position: Position, value: Json) -> bool:
        """Return True if the name of a value, such as `currency`, means the unit of an amount."""
        if not self._guess.acts:
            return False
        is_named = is_unit_flag if isinstance(value, bool) else is_unit_field
        return is_named(position.name) and not self._has_no_choice(position)

    def _is_unit_by_value(self, position: Position, value: str) -> bool:
        """Return True if the text is a unit of amounts, such as a currency."""
        if not self._guess.acts or self._guess.is_prose(position.name):
            return False
        return is_unit(value) and not self._has_no_choice(position)

    def _has_no_choice(self, position: Position) -> bool:
        """Return True if the schema allows only one value at this position."""
        if position.within is not None:
            return False
        return self._guarantees.is_listed(position.path, only_one=True)
