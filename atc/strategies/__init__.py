"""Strategies for solving a task, one module each, all with a `solve` function.

`registry.py` lists them by name.
"""

from atc.strategies.registry import STRATEGIES, UnknownStrategy, parse_spec, strategy

__all__ = ["STRATEGIES", "UnknownStrategy", "parse_spec", "strategy"]
