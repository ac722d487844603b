"""Fixed sentences of Spring and .NET, which name arguments and the types of their languages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from probing.dialects.naming import Names, steps
from probing.dialects.type_words import type_named
from probing.hint import Hint


def named_hints(kind: str, spelled: Iterable[str], names: Names) -> list[Hint]:
    """Hints of one kind for arguments as a fixed sentence spells them; one that is not known only in *missing*."""
    found = []
    for name in spelled:
        place = names.at((name,) if names.known(name) else steps(name))
        if place and (place.known or kind == "missing") and not place.nested:
            found.append(Hint(kind=kind, argument=place.argument))  # type: ignore[arg-type]
    return found


def spring_missing(match: re.Match[str], names: Names) -> list[Hint]:
    """`Required request parameter 'x' for method parameter type int is not present`."""
    if match[2] in ("header", "cookie") and not names.known(match[3]):
        return []
    hints = named_hints("missing", [match[3]], names)
    named = type_named(match[4] or match[1] or "")
    if hints and named and named != "string":
        hints.append(Hint(kind="type", types=(named,), argument=hints[0].argument))
    return hints


def spring_type(match: re.Match[str], names: Names) -> list[Hint]:
    """`Failed to convert value of type 'java.lang.String' to required type 'int'`."""
    before, target, after, value = match.groups()
    argument = names.known(before or after or "") or names.holding(value or "")
    if argument is None:
        return []
    return [replace(hint, argument=argument) for hint in _of_java(target)] or [Hint(kind="refused", argument=argument)]


_CLASSES = {
    "DateOnly": "date", "DateTime": "date-time", "DateTimeOffset": "date-time", "Guid": "uuid", "Instant": "date-time",
    "LocalDate": "date", "LocalDateTime": "date-time", "OffsetDateTime": "date-time", "UUID": "uuid",
    "ZonedDateTime": "date-time",
}  # fmt: skip
"""Classes of Java and .NET for what travels as a text of some format."""


def _of_java(target: str) -> list[Hint]:
    short = target.rpartition(".")[2]
    if short in _CLASSES:
        return [Hint(kind="format", format=_CLASSES[short])]
    named = type_named(short)
    return [Hint(kind="type", types=(named,))] if named and named != "string" else []


def dotnet(match: re.Match[str], names: Names) -> list[Hint]:
    """`The JSON value could not be converted to System.Int32. Path: $.limit`."""
    argument = names.known(match[2] or "")
    return [replace(hint, argument=argument) for hint in _of_java(match[1])] if argument else []
