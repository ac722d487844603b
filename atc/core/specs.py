"""Parsing of a choice with flags, such as a strategy, from text: `NAME:flag=value,flag`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeAlias, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from protocols.naming import closest_spellings

Kinds: TypeAlias = Mapping[str, Any]
"""Types of flags, keyed by the flag's name, in the form that pydantic takes."""
Flags: TypeAlias = dict[str, Any]


class Flagged(Protocol):
    """A choice that takes flags, such as a strategy or a search method."""

    @property
    def flags(self) -> Kinds:
        """The types of the flags, keyed by the flag's name."""


_Entry = TypeVar("_Entry", bound=Flagged)


def read_spec(spec: str, table: Mapping[str, _Entry], *, what: str) -> tuple[_Entry, Flags]:
    """Return the entry of `table` that a text such as `NAME:flag=value` names, and the flags in it.

    A flag without a value is `yes`. `what` is the noun for an entry in messages, such as
    `strategy`.

    Raises:
        ValueError: There is no such entry or flag, or the flag does not accept its value; the
            message is a sentence.
    """
    name, _, text = spec.partition(":")
    if name not in table:
        raise ValueError(unknown_name(name, table, what=what))
    kinds = table[name].flags
    flags = Flags()
    for part in filter(None, map(str.strip, text.split(","))):
        key, given, value = part.partition("=")
        if key not in kinds:
            known = ", ".join(kinds) or "none"
            raise ValueError(f"the {what} {name!r} has no flag {key!r}; its flags: {known}.")
        try:
            flags[key] = TypeAdapter(kinds[key]).validate_python(value if given else "yes")
        except ValidationError as error:
            raise ValueError(
                f"the {what} {name!r}: {key} {demand(error.errors()[0])}, got {value!r}."
            ) from error
    return table[name], flags


def unknown_name(name: str, known: Iterable[str], *, what: str) -> str:
    """Return a sentence which says that nothing has the name `name`.

    It contains all known names and, if there is one, the most similar of them. `what` is the noun
    for a thing with such a name, such as `strategy`.
    """
    near = closest_spellings(name, known)
    meant = f"did you mean {near[0]!r}? There is" if near else "there is"
    return f"no {what} is named {name!r}; {meant} {', '.join(known)}."


def demand(problem: ErrorDetails) -> str:
    """Return what is wrong with a value according to pydantic's error, as the end of a sentence.

    Examples are `must be less than 3` and `is missing`.
    """
    plain = {"Field required": "is missing", "Unexpected keyword argument": "is unknown"}
    return plain.get(problem["msg"]) or re.sub(r"^\w+ should", "must", problem["msg"])
