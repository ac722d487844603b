"""Ways to solve a task, one file each, one function of the same shape."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from atc.strategies.base import Strategy

NAMES = ("auto", "chain", "stepwise")
"""Those that there are. `auto` begins with `chain`."""


def strategy(name: str) -> Strategy:
    """The strategy of this name, imported when it is asked for."""
    found: Strategy = import_module(f"atc.strategies.{name}").solve
    return found
