"""What an index holds at one moment: a frozen segment, less what was removed, and the documents put since."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from atc.retrieve.document import ToolDocument
from atc.retrieve.embed import Embedder
from atc.retrieve.index.segment import Segment, Watch, write

if TYPE_CHECKING:
    from atc.retrieve.base import Positions

Changes = Mapping[str, ToolDocument | None]
"""What was put since the segment was written, by name, and None for what was removed."""


@dataclass(frozen=True)
class State:
    """Never changes; a search takes one and stays with it.

    Positions: first the segment's documents that are left, in its order, then those of the delta.
    """

    base: Segment
    delta: Segment
    changes: Changes = field(default_factory=dict)
    removed: Positions = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Positions in the segment, ascending, that were removed or replaced."""

    @classmethod
    def of(cls, base: Segment, changes: Changes, known: Mapping[str, Any] | None = None) -> State:
        """`base` with `changes`; `known` are vectors by digest.

        Raises:
            RetrievalUnavailable: the vectors of a document cannot be made.
        """
        put = [document for document in changes.values() if document is not None]
        embedder = None if base.dense is None else base.dense.embedder
        delta = write(put, embedder=embedder, known=known, beside=base)
        return cls(base, delta, dict(changes), _places(base, changes))

    def written(
        self, changes: Changes, folder: Path | None, embedder: Embedder | None, watch: Watch | None = None
    ) -> Segment:
        """A segment of the base with `changes`, in `folder` or memory.

        It has vectors where the base has; where the base has none and `embedder` is given, all documents get one.
        """
        put = [document for document in changes.values() if document is not None]
        if embedder is not None and self.base.dense is None:
            kept = (self.base.document(place) for place in range(len(self.base.names)))
            left = (document for document in kept if document.name not in changes)
            return write(chain(left, put), folder=folder, embedder=embedder, watch=watch)
        embedder = None if self.base.dense is None else self.base.dense.embedder
        return write(
            put,
            base=self.base,
            removed=_places(self.base, changes),
            known=self.vectors(),
            folder=folder,
            embedder=embedder,
            watch=watch,
        )

    @property
    def kept(self) -> int:
        """How many documents of the segment are left."""
        return len(self.base.names) - len(self.removed)

    @cached_property
    def names(self) -> Names:
        """The names by position."""
        return Names(self)

    def position(self, name: str) -> int | None:
        """Where the document of that name stands, if there is one."""
        if name in self.changes:
            place = self.delta.names.find(name)
            return None if place is None else self.kept + place
        place = self.base.names.find(name)
        return None if place is None else int(self.from_base(np.array([place]))[0])

    def document(self, position: int) -> ToolDocument:
        """The document at `position`."""
        if position >= self.kept:
            return self.delta.document(position - self.kept)
        return self.base.document(self.to_base(position))

    def digest(self, name: str) -> str | None:
        """The digest of the document of that name, if there is one."""
        if name in self.changes:
            document = self.changes[name]
            return None if document is None else document.digest
        place = self.base.names.find(name)
        return None if place is None else self.base.digests[place].decode()

    def with_changes(self, put: Iterable[ToolDocument], removed: Iterable[str]) -> dict[str, ToolDocument | None]:
        """The changes to the segment after these."""
        changes = dict(self.changes)
        for name in removed:
            changes.pop(name, None)
            if self.base.names.find(name) is not None:
                changes[name] = None
        for document in put:
            changes.pop(document.name, None)  # the last put stands last
            changes[document.name] = document
        return changes

    def vectors(self) -> dict[str, Any]:
        """The vectors of the delta by digest."""
        if self.delta.dense is None:
            return {}
        return dict(zip(self.delta.digests.astype(str).tolist(), self.delta.dense.vectors, strict=True))

    def digests(self) -> dict[str, str]:
        """The digest of each document by name."""
        left = np.delete(self.base.digests, self.removed)
        digests = np.concatenate([left, self.delta.digests]).astype(str).tolist()
        return dict(zip(self.names, digests, strict=True))

    def to_base(self, positions: Any) -> Any:
        """The positions in the segment of documents of it that are left."""
        return positions + np.searchsorted(self._gaps, positions, side="right")

    def from_base(self, places: Any) -> Any:
        """The other way round."""
        return places - np.searchsorted(self.removed, places)

    @cached_property
    def _gaps(self) -> Positions:
        return self.removed - np.arange(len(self.removed))


def _places(base: Segment, names: Iterable[str]) -> Positions:
    """Where those of `names` that `base` has stand in it, ascending."""
    return np.array(sorted(place for name in names if (place := base.names.find(name)) is not None), dtype=np.int64)


class Names(Sequence[str]):
    """The names of a state by position."""

    def __init__(self, state: State) -> None:
        self._state = state

    def __len__(self) -> int:
        return self._state.kept + len(self._state.delta.names)

    @overload
    def __getitem__(self, position: int) -> str: ...
    @overload
    def __getitem__(self, position: slice) -> list[str]: ...
    def __getitem__(self, position: int | slice) -> str | list[str]:
        if isinstance(position, slice):
            return [self[i] for i in range(*position.indices(len(self)))]
        place = position + len(self) if position < 0 else position
        if place >= self._state.kept:
            return self._state.delta.names[place - self._state.kept]
        return self._state.base.names[self._state.to_base(place) if place >= 0 else place]

    def __iter__(self) -> Iterator[str]:
        removed = set(self._state.removed.tolist())
        yield from (name for place, name in enumerate(self._state.base.names) if place not in removed)
        yield from self._state.delta.names

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._state.position(name) is not None
