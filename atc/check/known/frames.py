"""Where control is and what is known there: environments, loops, and activations of functions."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from atc.check.known.kinds import Origin, Type
from atc.check.known.lattice import join


@dataclass(slots=True)
class Env:
    """What is known at one point of a program: variables, and schema nulls that a test has ruled out."""

    names: dict[str, Type] = field(default_factory=dict)
    calm: frozenset[Origin] = frozenset()

    def copy(self) -> Env:
        """A separate copy."""
        return Env(dict(self.names), self.calm)


@dataclass(frozen=True, slots=True)
class Mentions:
    """What a test mentions: constant paths of keys, names whose kind it judges, and names that it passes to calls."""

    paths: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    judged: list[ast.Name] = field(default_factory=list)
    passed: list[tuple[ast.expr | None, list[str]]] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Loop:
    """The environments at a loop's `break`s and `continue`s."""

    depth: int
    """How many conditions its body stands under."""
    breaks: list[Env] = field(default_factory=list)
    continues: list[Env] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Frame:
    """One activation of a function, or the module. `env` is None where control cannot be.

    `detached` frames run at an unknown time (a callback of a library), so names of outer frames tell nothing; `late`
    ones run after they were called (coroutines, generators), so only names that are bound once do.
    """

    scope: ast.AST
    parent: Frame | None = None
    env: Env | None = field(default_factory=Env)
    detached: bool = False
    late: bool = False
    last: Env | None = None
    """What was known when the body ended, for functions defined in it that live on."""
    returns: list[Type] = field(default_factory=list)
    yields: list[Type] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    risky: list[dict[str, Type]] = field(default_factory=list)
    """For each `try` that is open: every value that its body gave to a name."""


def join_env(left: Env | None, right: Env | None) -> Env | None:
    """What is known after two ways meet. A name bound on one way only keeps its type: unbound, it raises anyway."""
    if left is None or right is None:
        return left or right
    names = dict(left.names)
    for name, value in right.names.items():
        known = names.get(name)
        names[name] = value if known is None or known is value else join(known, value)
    return Env(names, left.calm & right.calm)
