"""What every embedder does alike with the texts that it is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from atc.retrieve.base import Floats


def embed_distinct(texts: Sequence[str], embed: Callable[[list[str]], Floats], dimensions: Callable[[], int]) -> Floats:
    """A row for each of `texts`: `embed` is given each distinct one once, and a blank one gets the zero vector.

    `dimensions` is asked only where all are blank.
    """
    rows = {text: row for row, text in enumerate(dict.fromkeys(text for text in texts if text.strip()))}
    found = embed([_clean(text) for text in rows]) if rows else np.zeros((0, dimensions()), np.float32)
    vectors = np.concatenate([found, np.zeros((1, found.shape[1]), np.float32)])
    return vectors[[rows.get(text, -1) for text in texts]]


def of_length_one(vectors: NDArray[np.floating[Any]]) -> Floats:
    """The rows of `vectors` (rows, dimensions) brought to length one; a zero row stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Floats = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return scaled


def _clean(text: str) -> str:
    """Without lone surrogates, which neither tokenizers nor JSON take."""
    return text.encode("utf-8", "replace").decode("utf-8")
