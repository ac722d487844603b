"""What every sandbox must do, as a list of small checks. A third backend shows that it fits by passing them:

for check in CHECKS:
    check(sandbox)
"""

from __future__ import annotations

from collections.abc import Callable

from sandbox.base import Sandbox
from sandbox.conformance import calls, concurrency, limits, programs
from sandbox.conformance.shop import ITEM, make_tool, run, shop

__all__ = ["CHECKS", "ITEM", "Check", "make_tool", "run", "shop"]

Check = Callable[[Sandbox], None]

CHECKS: tuple[Check, ...] = (*programs.CHECKS, *calls.CHECKS, *concurrency.CHECKS, *limits.CHECKS)
