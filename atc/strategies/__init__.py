"""Ways to solve a task, one file each, one function of the same shape; `table.py` has them by name."""

from atc.strategies.registry import STRATEGIES, UnknownStrategy, parse_spec, strategy

__all__ = ["STRATEGIES", "UnknownStrategy", "parse_spec", "strategy"]
