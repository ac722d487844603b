"""Where a data set's index and its synthetic queries are kept: one folder, which can be carried to another machine."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from atc.retrieve.base import RetrievalUnavailable
from atc.retrieve.document import ToolDocument

if TYPE_CHECKING:
    from atc.retrieve.embed import Embedder
    from atc.retrieve.index import ToolIndex

_INDEX = "index"


def own_folder(documents: Sequence[ToolDocument], cache: Path) -> Path:
    """The folder of these documents in the cache folder; queries and labels have no part in it."""
    digest = hashlib.sha256("".join(sorted(document.digest for document in documents)).encode()).hexdigest()
    return cache / "retrieval" / digest[:16]


def open_index(
    documents: Sequence[ToolDocument],
    folder: Path,
    *,
    embedder: Embedder | None,
    watch: Callable[[int], None] | None = None,
) -> ToolIndex:
    """The index of `documents` in `folder`, built or brought up to date where it is not.

    `watch` is told how many documents are done.

    Raises:
        RetrievalUnavailable: a package or the embedding model is missing.
    """
    from atc.retrieve.index import ToolIndex

    place = folder / _INDEX
    if place.is_dir():
        try:
            index = ToolIndex.open(place, embedder=embedder)
        except RetrievalUnavailable:
            pass  # damaged, or of another embedding model or version: built anew
        else:
            index.sync(documents)
            return index
    return ToolIndex.build(documents, folder=place, embedder=embedder, watch=watch)
