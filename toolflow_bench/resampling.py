"""Means with 95% intervals: percentile bootstrap over tasks, seeded, so that the same rows give the same interval."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

RESAMPLES = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean over `n` tasks, and its 95% interval from `low` to `high`."""

    mean: float
    low: float
    high: float
    n: int


def estimate(values: Sequence[float], *, seed: int = 0) -> Estimate | None:
    """The mean of `values`, one a task, with its interval; None without any."""
    interval = bootstrap(values, seed=seed)
    if interval is None:
        return None
    return Estimate(mean=fmean(values), low=interval[0], high=interval[1], n=len(values))


def bootstrap(values: Sequence[float], *, seed: int = 0) -> tuple[float, float] | None:
    """The 95% percentile interval of the mean of `values` (truth values count as 0 and 1); None without any."""
    if not values:
        return None
    draw = random.Random(seed)  # noqa: S311 - resampling, not secrecy
    count = len(values)
    means = sorted(sum(draw.choices(values, k=count)) / count for _ in range(RESAMPLES))
    return means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES) - 1]
