"""How long what is decoded may get: every string, number, list and program ends, whatever the model prefers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Limits that a schema may tighten, and widens only by demanding more (`minLength`, `minItems`, an `enum`)."""

    characters: int = 400
    """Of one string."""
    call_characters: int = 1600
    """Of the arguments of one call, shared over its parts.

    In words some 400 tokens. Models are given 1,024 by default, which holds a call that is twice as dense. More where
    the schema demands more, or has so many parts that their least is more.
    """
    digits: int = 19
    """Of a number before its point: identifiers of 64 bits have as many."""
    places: int = 20
    """Of a number after its point: `repr` writes doubles with 17 digits, and zeros before them as in 0.0001."""
    items: int = 20
    """Of one array, and further keys of one object."""
    depth: int = 6
    """Of values within values where a schema is open or recursive."""
    statements: int = 40
    """Of one program."""
    blocks: int = 4
    """Blocks of a program within one another."""
    operands: int = 4
    """Of one expression, and parts of one f-string."""


BOUNDS = Bounds()
