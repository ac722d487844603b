"""Texts that cannot be the same: of forms that share none, or not among the only values possible."""

from __future__ import annotations

from atc.check.known import forms
from atc.check.known.kinds import ANY, NEVER, Atom, DictCell, Mapped, Null, Type
from atc.check.known.lattice import joined, literal, members
from atc.check.report import listed
from atc.check.tools.literals import matches


def texts_apart(left: Type, right: Type) -> bool:
    """Whether no text is both: one of the two has a form, or several values."""
    one, other = _texts(left), _texts(right)
    return bool(one and other) and all(_apart(a, b) for a in one for b in other)


def _texts(value: Type) -> list[Atom]:
    """The alternatives of a text, without None; nothing where one is of another kind or not known."""
    found = [member for member in members(value) if not isinstance(member, Null)]
    texts = [member for member in found if isinstance(member, Atom) and member.name == "str"]
    return texts if len(texts) == len(found) else []


def _apart(one: Atom, other: Atom) -> bool:
    if one.values is not None and other.values is not None:
        return not set(one.values) & set(other.values)
    if one.values is not None:
        one, other = other, one
    if one.pattern is None:
        return False
    if other.values is not None:
        return all(matches(one.pattern, text) is False for text in other.values)
    return other.pattern is not None and one.pattern != other.pattern and forms.apart(one.pattern, other.pattern)


def both_null(left: Type, right: Type) -> bool:
    """Whether both may be None, and so equal."""
    return all(any(isinstance(member, Null) for member in members(value)) for value in (left, right))


def form_of(value: Type) -> str:
    """The values or the form of a text, in words."""
    atoms = _texts(value)
    values = [repr(text) for atom in atoms for text in atom.values or ()]
    if values:
        return f"{'one of ' if len(values) > 1 else ''}{listed(values, most=8)}"
    patterns = dict.fromkeys(atom.pattern for atom in atoms if atom.pattern is not None)
    return " or ".join(f"of the form {pattern!r}" for pattern in patterns) or "a string"


def keys_of(cell: DictCell) -> Type:
    """What the keys of a dict of the program may be."""
    return joined([*(literal(key) for key in cell.keys), cell.key if cell.open else NEVER])


def never_a_key(value: Mapped, index: Type) -> bool:
    """Whether a text is never a key of a dict that the program has filled with others."""
    cell = value.cell
    if cell.default is not None or (cell.open and cell.key in (ANY, NEVER)):
        return False
    known = joined([keys_of(cell), *(literal(key) for key, _ in value.refined)])
    return known is not NEVER and texts_apart(known, index)
