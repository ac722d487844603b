"""The shape of an embedding model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from atc.retrieve.base import Floats


class Embedder(Protocol):
    """A model that turns texts into vectors of length one, so that a dot product is a cosine."""

    @property
    def name(self) -> str:
        """What identifies the model and how it is used: vectors of equal names compare."""

    @property
    def dimensions(self) -> int:
        """The length of a vector."""

    def documents(self, texts: Sequence[str]) -> Floats:
        """A row for each text, shape (texts, dimensions), for what is indexed.

        Raises:
            RetrievalUnavailable: the model cannot be had.
        """

    def queries(self, texts: Sequence[str]) -> Floats:
        """A row for each text that is looked for; some models read a query with a prefix of its own."""
