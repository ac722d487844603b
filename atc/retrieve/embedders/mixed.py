"""Several embedders as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from atc.retrieve.embed import Embedder

if TYPE_CHECKING:
    from atc.retrieve.base import Floats


class MixedEmbedder:
    """An `Embedder` whose vectors are those of its parts, one after another, each scaled by the root of its share.

    A cosine is so the mean of the parts' cosines, weighted by their shares, which add up to one.
    """

    def __init__(self, name: str, parts: Sequence[tuple[Embedder, float]]) -> None:
        self.name = name
        self._parts = parts

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return sum(part.dimensions for part, _ in self._parts)

    def documents(self, texts: Sequence[str]) -> Floats:
        """A row for each text, see `Embedder`."""
        return self._joined([part.documents(texts) for part, _ in self._parts])

    def queries(self, texts: Sequence[str]) -> Floats:
        """A row for each text that is looked for, see `Embedder`."""
        return self._joined([part.queries(texts) for part, _ in self._parts])

    def _joined(self, vectors: Sequence[Floats]) -> Floats:
        roots = [np.float32(share**0.5) for _, share in self._parts]
        joined: Floats = np.concatenate([root * part for root, part in zip(roots, vectors, strict=True)], axis=1)
        return joined
