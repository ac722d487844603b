"""The best of many scores, in one order everywhere: higher first, ties by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from atc.retrieve.base import Ranked

if TYPE_CHECKING:
    from atc.retrieve.base import Floats, Positions

_DECIMALS = 6
"""Scores that agree to here are tied: equal documents differ by less, since a matrix product adds up the rows at its
end in another order than those before."""


def best(scores: Floats, names: Sequence[str], *, n: int, positions: Positions | None = None) -> Ranked:
    """The `n` best of `scores` (documents,), ties by name; a score of minus infinity never comes.

    `positions[i]` is the position in the index of what `scores[i]` belongs to, by default `i`. Names are read of tied
    documents only, since they may lie on disk.
    """
    kept = np.flatnonzero(scores > -np.inf)
    n = max(0, min(n, len(kept)))
    if 0 < n < len(kept):
        least = np.partition(scores[kept], len(kept) - n)[len(kept) - n]
        kept = kept[scores[kept] >= least - 10.0**-_DECIMALS]
    rounded = np.round(scores[kept].astype(np.float64), _DECIMALS)
    order = np.argsort(-rounded, kind="stable")
    rounded, found = rounded[order], kept[order] if positions is None else positions[kept[order]]
    starts = np.flatnonzero(np.diff(rounded, prepend=np.inf))  # of each run of equal scores
    ends = np.append(starts, len(rounded))[1:]
    for start, end in zip(starts, ends, strict=True):
        if start >= n:
            break
        if end - start > 1:
            found[start:end] = sorted(found[start:end], key=lambda position: names[position])
    return Ranked(found[:n].astype(np.int64), rounded[:n].astype(np.float32))
