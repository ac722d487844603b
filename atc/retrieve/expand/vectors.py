"""Embeddings of what was written about documents, kept beside it: a text is embedded once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from atc.retrieve.expand.keep import Expansions

if TYPE_CHECKING:
    from atc.retrieve.base import Floats
    from atc.retrieve.embed import Embedder

_BLOCK = 512
"""Texts that are embedded before they are written down."""


def embedded(texts: Sequence[str], embedder: Embedder, kept: Expansions, *, queries: bool = False) -> Floats:
    """A row for each text, shape (texts, dimensions), as documents or as `queries`; kept ones in 16 bits a number.

    Raises:
        RetrievalUnavailable: see `Embedder`, `Expansions`.
    """
    prefix = f"{embedder.name} {'query' if queries else 'document'} "
    keys = [hashlib.sha256((prefix + text).encode("utf-8", "replace")).digest()[:16] for text in texts]
    found = kept.vectors(keys)
    missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
    left = list(missing)
    for start in range(0, len(left), _BLOCK):
        part = left[start : start + _BLOCK]
        rows = (embedder.queries if queries else embedder.documents)([missing[key] for key in part])
        made = {key: row.tobytes() for key, row in zip(part, rows.astype(np.float16), strict=True)}
        kept.keep_vectors(made)
        found.update(made)
    result = np.zeros((len(texts), embedder.dimensions), np.float32)
    for row, key in enumerate(keys):
        result[row] = np.frombuffer(found[key], np.float16)
    return result
