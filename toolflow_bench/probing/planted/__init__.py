"""Fake tools, each with one hidden rule, which answer in the error dialects of many makers.

They were written from what such services say in the wild, before and without regard to how a prober reads it; some
rules are not to be found by calling alone.
"""

from __future__ import annotations

from toolflow_bench.probing.planted.fake import Planted
from toolflow_bench.probing.planted.flows import FLOWS
from toolflow_bench.probing.planted.together import TOGETHER
from toolflow_bench.probing.planted.values import VALUES

RULES: tuple[Planted, ...] = (*VALUES, *TOGETHER, *FLOWS)
"""All of them."""

__all__ = ["RULES", "Planted"]
