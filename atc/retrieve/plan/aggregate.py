"""One ranking out of the rankings of several queries (§3.1, Table 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from atc.retrieve.base import Hit, Ranked

Aggregation: TypeAlias = Literal["peak_rank", "rrf", "multi_view"]


def aggregated(lists: Sequence[Sequence[Hit]], how: Aggregation) -> list[Hit]:
    """Every tool found once, best first, as `fuse.peak_rank`, `fuse.rrf` or `fuse.multi_view_lists` order them."""
    import numpy as np

    from atc.retrieve import fuse

    names = sorted({hit.tool for hits in lists for hit in hits})
    if not names:
        return []
    place = {name: position for position, name in enumerate(names)}
    ranked = [
        Ranked(
            np.array([place[hit.tool] for hit in hits], dtype=np.int64),
            np.array([hit.score for hit in hits], dtype=np.float32),
        )
        for hits in lists
    ]
    fused = {"peak_rank": fuse.peak_rank, "rrf": fuse.rrf, "multi_view": fuse.multi_view_lists}[how](ranked, names)
    return list(fuse.hits(fused, names, k=len(names)))
