"""How long what is decoded may get: every string, number, list and program ends, whatever the model prefers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Limits that a schema may tighten, and widens only by demanding more (`minLength`, `minItems`, an `enum`)."""

    characters: int = 400
    """Of one string."""
    digits: int = 15
    """Of a number before its point, and after it."""
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
