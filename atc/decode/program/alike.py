"""Which texts may be equal: what schemas say of two can rule out for ever that they are."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

from atc.check.fits import apart, matches
from atc.check.types import Atom, Null, Type, members
from atc.decode.program.nodes import any_of
from atc.decode.program.places import kind_of
from atc.decode.program.view import View

T = TypeVar("T")
_Form = frozenset[tuple[str | None, tuple[object, ...] | None, bool]]


class Match(NamedTuple, Generic[T]):
    """Things that may be equal to the same: regular expressions of texts, and of lists that hold texts."""

    things: list[T]
    texts: str | None
    lists: str | None


class Alike:
    """The texts that can be read at one point, and the lists of texts, by what each may be equal to."""

    def __init__(self, view: View) -> None:
        self._view = view

    @cached_property
    def _texts(self) -> dict[_Form, tuple[Type, str | None]]:
        kinds = {
            _form(r.place.kind): r.place.kind
            for r in self._view.reads
            if r.kind.name in ("str", "any") and not r.kind.nullable
        }
        return {form: (kind, self._of_form(form)) for form, kind in kinds.items()}

    def _of_form(self, form: _Form) -> str | None:
        return self._view.where(
            lambda r: r.kind.name in ("str", "any") and not r.kind.nullable and _form(r.place.kind) == form
        )

    @cached_property
    def _lists(self) -> dict[_Form, tuple[Type, list[str]]]:
        found: dict[_Form, tuple[Type, list[str]]] = {}
        for item, regex in self._view.lists.items():
            kind = kind_of(item, self._view.point.calm)
            if kind.name in ("str", "any") and not kind.nullable:
                found.setdefault(_form(item), (item, []))[1].append(regex)
        return found

    def lists(self, *, formed: bool) -> list[tuple[Type, str]]:
        """The lists whose items a schema says more of, or those that may hold any text, with their items' type."""
        return [(item, any_of(some) or "") for form, (item, some) in self._lists.items() if bool(form) is formed]

    def matches(self, things: Iterable[tuple[Type, T]]) -> list[Match[T]]:
        """The things, each a text of some type, with those that they may be equal to."""
        found: dict[tuple[frozenset[_Form], frozenset[_Form]], list[T]] = {}
        known: dict[_Form, tuple[frozenset[_Form], frozenset[_Form]]] = {}
        for kind, thing in things:
            form = _form(kind)
            if form not in known:
                known[form] = (
                    frozenset(f for f, (other, _) in self._texts.items() if _may_equal(kind, other)),
                    frozenset(f for f, (other, _) in self._lists.items() if _may_equal(kind, other)),
                )
            found.setdefault(known[form], []).append(thing)
        return [
            Match(
                some,
                any_of(regex for form, (_, regex) in self._texts.items() if form in texts and regex),
                any_of(regex for form, (_, each) in self._lists.items() if form in lists for regex in each),
            )
            for (texts, lists), some in found.items()
        ]


def _form(kind: Type) -> _Form:
    """What is known of a text; empty where nothing is."""
    return frozenset(
        (member.pattern, member.values, member.listed)
        for member in members(kind)
        if isinstance(member, Atom) and (member.pattern is not None or member.values is not None)
    )


def _says_much(kind: Type) -> bool:
    return any(isinstance(m, Atom) and (m.pattern is not None or m.listed) for m in members(kind))


def _may_equal(one: Type, other: Type) -> bool:
    """Whether the check lets the two be compared: of constants of the program's own it says nothing."""
    return not (_says_much(one) or _says_much(other)) or not texts_apart(one, other)


def texts_apart(left: Type, right: Type) -> bool:
    """Whether no text is both: one of the two has a pattern, or several values."""
    one, other = _texts(left), _texts(right)
    return bool(one and other) and all(_never_same(a, b) for a in one for b in other)


def _texts(value: Type) -> list[Atom]:
    """The alternatives of a text, without None; nothing where one is of another kind or not known."""
    found = [member for member in members(value) if not isinstance(member, Null)]
    texts = [member for member in found if isinstance(member, Atom) and member.name == "str"]
    return texts if len(texts) == len(found) else []


def _never_same(one: Atom, other: Atom) -> bool:
    if one.values is None:
        one, other = other, one
    if one.values is None:
        return bool(one.pattern and other.pattern and apart(one.pattern, other.pattern))
    if other.values is not None:
        return not set(one.values) & set(other.values)
    return other.pattern is not None and not any(matches(other.pattern, text) for text in one.values)
