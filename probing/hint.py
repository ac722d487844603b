"""What an error reply says of an argument: the one shape into which every dialect of errors is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from protocols.jsontypes import Json

HintKind = Literal[
    "missing", "unknown", "type", "enum", "range", "length", "pattern", "format", "example", "default",
    "exclusive", "together", "any_of", "not_found", "source", "allowed", "refused",
]  # fmt: skip
"""*missing*: it must be given. *unknown*: there is no such argument. *type*, *enum*, *range*, *length*, *pattern*,
*format*: what it must be. *example*, *default*: a value the reply quotes as good, or as used where none is given.
*exclusive*: not together with `others`; *together*: only with all of `others`; *any_of*: at least one of `others` must
be given; *allowed*: the tool's arguments are
`others`. *not_found*: well formed, but there is no such thing. *source*: `tool` gives such values. *refused*: the reply
names the argument, and no more can be read from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """One fact that a reply states. `argument` is the source's own name; `None` where the reply names none."""

    kind: HintKind
    argument: str | None = None
    types: tuple[str, ...] = ()
    """JSON types (`integer`), for *type*."""
    values: tuple[Json, ...] = ()
    """For *enum* all of them, for *example* and *default* those quoted."""
    minimum: float | None = None
    maximum: float | None = None
    """Inclusive, for *range*; of characters or items for *length*."""
    exclusive_minimum: bool = False
    exclusive_maximum: bool = False
    pattern: str = ""
    """An ECMA regular expression, for *pattern*."""
    format: str = ""
    """JSON Schema's name (`date`, `date-time`, `uuid`, `email`, `uri`, `time`), for *format*."""
    others: tuple[str, ...] = ()
    """Names of other arguments, for *exclusive*, *together*, *any_of* and *allowed*."""
    tool: str = ""
    """Name of a tool as the reply spells it, for *source*."""
    text: str = ""
    """The clause of the reply that says so, at most 200 characters."""
