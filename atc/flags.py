"""Things that are spelled with flags: `NAME`, or `NAME:flag=value,flag`. A flag that is named alone is `yes`."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Protocol, TypeAlias, TypeVar

Kind: TypeAlias = type | tuple[str, ...]
"""What a flag takes: `bool`, `int` or `str`, or one of these words."""

Flags: TypeAlias = dict[str, Any]


class Flagged(Protocol):
    """An entry of a table of things that are spelled with flags."""

    @property
    def flags(self) -> Mapping[str, Kind]:
        """What can be set of it."""


_Entry = TypeVar("_Entry", bound=Flagged)


def read_spec(spec: str, table: Mapping[str, _Entry], *, what: str) -> tuple[_Entry, Flags]:
    """The entry of `table` that `spec` names, and the flags that it gives; `what` says what an entry is.

    Raises:
        ValueError: no such entry or flag, or a value that the flag does not take; the message is a sentence.
    """
    name, _, flags = spec.partition(":")
    entry = table.get(name)
    if entry is None:
        near = get_close_matches(name, table, n=1)
        meant = f"did you mean {near[0]!r}? There is" if near else "there is"
        raise ValueError(f"no {what} is named {name!r}; {meant} {', '.join(table)}.")
    try:
        return entry, read_flags(flags, entry.flags)
    except ValueError as error:
        raise ValueError(f"the {what} {name!r} {error}.") from error


def read_flags(text: str, kinds: Mapping[str, Kind]) -> Flags:
    """The flags in `text`, by name, as `kinds` says what there are.

    Raises:
        ValueError: there is no such flag, or it takes other values; the message is the end of a sentence about it.
    """
    flags: Flags = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, given, value = part.partition("=")
        if key not in kinds:
            raise ValueError(f"has no flag {key!r}; its flags: {', '.join(kinds) or 'none'}")
        flags[key] = _value(key, kinds[key], value if given else "yes")
    return flags


def _value(key: str, kind: Kind, text: str) -> Any:
    if isinstance(kind, tuple):
        if text in kind:
            return text
        raise ValueError(f"takes {key}={', '.join(kind[:-1])} or {kind[-1]}, not {text!r}")
    if kind is bool and text.lower() in {"yes", "true", "1", "no", "false", "0"}:
        return text.lower() in {"yes", "true", "1"}
    if kind is int and text.removeprefix("-").isdecimal():
        return int(text)
    if kind is str:
        return text
    wanted = {bool: "yes or no", int: "a whole number"}[kind]
    raise ValueError(f"takes {wanted} as {key}, not {text!r}")
