"""Means with 95% percentile bootstrap intervals. A seed makes the results reproducible."""

from __future__ import annotations

import random
import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import fmean

RESAMPLES = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean over `n` tasks with its 95% interval from `low` to `high`."""

    mean: float
    low: float
    high: float
    n: int


def estimate(
    values: Sequence[float], *, seed: int = 0, groups: Sequence[Hashable] | None = None
) -> Estimate | None:
    """Return the mean of `values` with its interval, or None if there are no values.

    Booleans count as 0 and 1. `groups` has the group of each value; values of one group are
    resampled together. Tasks of one recipe, for example, succeed and fail together, so they are not
    independent observations. If `groups` is None, each value is independent.
    """
    if not values:
        return None
    together: dict[Hashable, list[float]] = {}
    for number, value in enumerate(values):
        together.setdefault(groups[number] if groups is not None else number, []).append(value)
    sums = [(sum(some), len(some)) for some in together.values()]
    draw = random.Random(seed)  # noqa: S311 - resampling, not secrecy
    means = []
    for _ in range(RESAMPLES):
        drawn = draw.choices(sums, k=len(sums))
        means.append(sum(total for total, _ in drawn) / sum(count for _, count in drawn))
    means.sort()
    low = means[int(0.025 * RESAMPLES)]
    high = means[int(0.975 * RESAMPLES) - 1]
    return Estimate(mean=fmean(values), low=low, high=high, n=len(values))


def recipe_of(task: str) -> str:
    """Return the recipe of a ToolFlow task: `across/debut-weather` for `across/debut-weather-2`.

    The id of a task from another suite is returned unchanged.
    """
    return re.sub(r"-\d+$", "", task) if "/" in task else task
