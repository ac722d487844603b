"""Rankers over an index that changes: each call sees the index as it is at that moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from atc.retrieve.base import Ranked, Ranker, View
from atc.retrieve.best import best
from atc.retrieve.dense import Dense
from atc.retrieve.document import ToolDocument
from atc.retrieve.embed import Embedder
from atc.retrieve.index.segment import Segment
from atc.retrieve.index.state import State

if TYPE_CHECKING:
    from atc.retrieve.base import Floats, Positions

Now = Callable[[], State]
_Top = Callable[[int], list[Ranked]]
_Scores = Callable[["Positions | None"], "Floats"]


class Documents(Mapping[str, ToolDocument]):
    """The documents of an index by name, each read as it is asked for."""

    def __init__(self, now: Now) -> None:
        self._now = now

    def __getitem__(self, name: str) -> ToolDocument:
        state = self._now()
        position = state.position(name)
        if position is None:
            raise KeyError(name)
        return state.document(position)

    def __iter__(self) -> Iterator[str]:
        return iter(self._now().names)

    def __len__(self) -> int:
        return len(self._now().names)


class LiveLexical(Ranker):
    """BM25 over segment and delta. The delta is scored with the segment's IDF and mean length."""

    def __init__(self, now: Now) -> None:
        self._now = now

    @property
    def names(self) -> Sequence[str]:
        """The names by position, as they are now."""
        return self._now().names

    def top(self, views: Sequence[View], *, n: int) -> list[Ranked]:
        """For each view the `n` best documents, ties by name."""
        state = self._now()
        base, delta = state.base.lexical, state.delta.lexical
        return _top(state, lambda m: base.top(views, n=m), lambda m: delta.top(views, n=m), n)

    def scores(self, views: Sequence[View], positions: Positions | None = None) -> Floats:
        """The score of each document (or of those at `positions`) for each view, shape (views, documents)."""
        state = self._now()
        return _scores(
            state,
            lambda places: state.base.lexical.scores(views, places),
            lambda places: state.delta.lexical.scores(views, places),
            positions,
        )


class LiveDense(Dense):
    """The dense ranker over segment and delta."""

    def __init__(self, now: Now) -> None:
        self._now = now

    @property
    def names(self) -> Sequence[str]:  # type: ignore[override]
        """The names by position, as they are now."""
        return self._now().names

    @property
    def embedder(self) -> Embedder:  # type: ignore[override]
        """What made the vectors."""
        return _dense(self._now().base).embedder

    @property
    def vectors(self) -> Any:  # type: ignore[override]
        """A row for each document; a copy where there is a delta."""
        state = self._now()
        base = _dense(state.base).vectors
        if not state.changes:
            return base
        return np.concatenate([np.delete(base, state.removed, axis=0), _dense(state.delta).vectors])

    def __len__(self) -> int:
        return len(self._now().names)

    def embed(self, views: Sequence[View]) -> Floats:
        """A row for each view, see `Dense.embed`."""
        return _dense(self._now().base).embed(views)

    def near(self, vectors: Floats, *, n: int) -> list[Ranked]:
        """For each row of `vectors` the `n` nearest documents."""
        state = self._now()
        base, delta = _dense(state.base), _dense(state.delta)
        return _top(state, lambda m: base.near(vectors, n=m), lambda m: delta.near(vectors, n=m), n)

    def scores_of(self, vectors: Floats, positions: Positions | None = None) -> Floats:
        """The cosine of each row of `vectors` with each document (or those at `positions`)."""
        state = self._now()
        return _scores(
            state,
            lambda places: _dense(state.base).scores_of(vectors, places),
            lambda places: _dense(state.delta).scores_of(vectors, places),
            positions,
        )

    def save(self, folder: Path) -> None:
        """Write the vectors as they are now into `folder`."""
        state = self._now()
        Dense(state.names, self.vectors, self.embedder).save(folder)


def _dense(segment: Segment) -> Dense:
    assert segment.dense is not None, "only an index with vectors has this ranker"
    return segment.dense


def _top(state: State, base: _Top, delta: _Top, n: int) -> list[Ranked]:
    """The `n` best of both. `base(m)` gives the `m` best of the segment, some of which may have been removed."""
    if not state.changes:
        return base(n)
    size = len(state.base.names)
    asked = n + min(len(state.removed), n)
    while True:
        found = base(asked)
        left = [~np.isin(ranked.positions, state.removed) for ranked in found]
        short = any(
            np.count_nonzero(kept) < n and len(kept) == min(asked, size) for kept in left
        )  # more may be behind those that were removed
        if not short or asked >= size:
            break
        asked = min(size, 4 * asked)
    return [_merged(state, a, kept, b, n) for a, kept, b in zip(found, left, delta(n), strict=True)]


def _merged(state: State, base: Ranked, kept: Any, delta: Ranked, n: int) -> Ranked:
    positions = np.concatenate([state.from_base(base.positions[kept]), state.kept + delta.positions])
    return best(np.concatenate([base.scores[kept], delta.scores]), state.names, n=n, positions=positions)


def _scores(state: State, base: _Scores, delta: _Scores, positions: Positions | None) -> Floats:
    if not state.changes:
        return base(positions)
    if positions is None:
        return np.concatenate([np.delete(base(None), state.removed, axis=1), delta(None)], axis=1)
    positions = np.asarray(positions, dtype=np.int64)
    new = positions >= state.kept
    first, second = base(state.to_base(positions[~new])), delta(positions[new] - state.kept)
    scores = np.empty((len(first), len(positions)), dtype=np.float32)
    scores[:, ~new], scores[:, new] = first, second
    return scores
