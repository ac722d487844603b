"""`ToolIndex`: the documents of a tool set, searched by words and by meaning."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from atc.retrieve.base import Ranker
from atc.retrieve.dense import Dense
from atc.retrieve.document import ToolDocument
from atc.retrieve.embed import Embedder
from atc.retrieve.index.folder import MANIFEST, OnMessage
from atc.retrieve.index.live import Documents, LiveDense, LiveLexical
from atc.retrieve.index.segment import Segment, Watch, no_name, same_name, write
from atc.retrieve.index.state import Changes, State
from atc.retrieve.index.stored import Stored

DELTA_DOCUMENTS = 2_000
"""Changes that are kept beside a segment, or an eighth of its documents where that is less; more are merged at once."""
_SMALLEST_DELTA = 16


@dataclass(frozen=True, slots=True)
class Synced:
    """How many documents `ToolIndex.sync` added, changed and removed."""

    added: int = 0
    changed: int = 0
    removed: int = 0


class ToolIndex:
    """The documents of a tool set by position, ranked by words and, with an embedder, by meaning.

    A frozen segment, which is mapped from disk where there is a folder, and a small delta of what was put and removed
    since. A change takes milliseconds and the next search sees it. Until it is merged, documents of the delta are
    scored with the segment's IDF and mean length, and documents that were removed still count in them.

    Positions shift when a document is removed or replaced, or when the delta is merged. Several threads may search; one
    that changes the index beside them may shift positions between two calls of a search.
    """

    def __init__(self, state: State, *, stored: Stored | None = None, embedder: Embedder | None = None) -> None:
        """Use `build` and `open`."""
        self._state, self._stored, self._embedder = state, stored, embedder
        self._lock = threading.RLock()
        self.documents: Mapping[str, ToolDocument] = Documents(self._now)
        """By name, each read as it is asked for."""
        self.lexical: Ranker = LiveLexical(self._now)
        """BM25 over `words_text`."""

    @classmethod
    def build(
        cls,
        documents: Iterable[ToolDocument],
        *,
        folder: Path | None = None,
        embedder: Embedder | None = None,
        watch: Watch | None = None,
        on_message: OnMessage | None = None,
    ) -> Self:
        """An index of `documents` in memory or in `folder`, where one that stands is valid until this one is whole.

        `watch` is told how many documents are done, `on_message` that another process is waited for.

        Raises:
            ValueError: two documents have the same name, or one has none.
            RetrievalUnavailable: a package is missing, or the embedding model cannot be had.
            CannotWrite: the folder cannot be written.
        """
        if folder is None:
            return cls(State.of(write(documents, embedder=embedder, watch=watch), {}), embedder=embedder)
        stored = Stored(folder, embedder, on_message)
        with stored.writing():
            segment = stored.replace(lambda place: write(documents, folder=place, embedder=embedder, watch=watch))
        return cls(State.of(segment, {}), stored=stored, embedder=embedder)

    @classmethod
    def open(cls, folder: Path, *, embedder: Embedder | None = None, on_message: OnMessage | None = None) -> Self:
        """The index in `folder`. Without `embedder` the one that made its vectors is used when a text comes.

        Raises:
            RetrievalUnavailable: there is no index, it is damaged, or made by another version or another embedder.
        """
        stored = Stored(folder, embedder, on_message)
        return cls(stored.load(), stored=stored, embedder=embedder)

    @classmethod
    def stands(cls, folder: Path) -> bool:
        """Whether an index, whole or damaged, was made in `folder`."""
        return (folder / MANIFEST).exists()

    @property
    def folder(self) -> Path | None:
        """Where the index is kept; None: in memory."""
        return None if self._stored is None else self._stored.folder

    @property
    def names(self) -> Sequence[str]:
        """The names by position, as they are now."""
        return self._state.names

    @property
    def dense(self) -> Dense | None:
        """The ranker by meaning over `vector_text`; None where the index was made without an embedder."""
        return None if self._state.base.dense is None else LiveDense(self._now)

    @property
    def pending(self) -> int:
        """How many changes are not merged yet."""
        return len(self._state.changes)

    def position(self, name: str) -> int:
        """Where the document of that name stands.

        Raises:
            KeyError: there is none.
        """
        position = self._state.position(name)
        if position is None:
            raise KeyError(name)
        return position

    def put(self, documents: Iterable[ToolDocument]) -> None:
        """Add `documents`, each in place of the one of its name; what is there already in the same words stays.

        Raises:
            ValueError: two documents have the same name, or one has none.
            RetrievalUnavailable: a vector cannot be made, or the folder is damaged; nothing is changed then.
            CannotWrite: the folder cannot be written; nothing is changed then.
        """
        wanted = _by_name(documents)
        with self._writing():
            state = self._state
            self._apply([d for name, d in wanted.items() if state.digest(name) != d.digest], [])

    def remove(self, names: Iterable[str]) -> None:
        """Remove the documents of these names; a name that is not there is passed over.

        Raises:
            RetrievalUnavailable, CannotWrite: see `put`.
        """
        with self._writing():
            state = self._state
            self._apply([], [name for name in dict.fromkeys(names) if state.position(name) is not None])

    def sync(self, documents: Iterable[ToolDocument], *, watch: Watch | None = None) -> Synced:
        """Bring the index to exactly `documents`; only what is new or has changed is read and embedded.

        Where an embedder was given and the index has no vectors, it gets them.

        Raises:
            ValueError, RetrievalUnavailable, CannotWrite: see `put`.
        """
        wanted = _by_name(documents)
        with self._writing():
            had = self._state.digests()
            put = [document for name, document in wanted.items() if had.get(name) != document.digest]
            removed = [name for name in had if name not in wanted]
            self._apply(put, removed, watch)
        changed = sum(document.name in had for document in put)
        return Synced(added=len(put) - changed, changed=changed, removed=len(removed))

    def merge(self) -> None:
        """Write segment and delta as one new segment: it ranks as one that was built of these documents.

        Raises:
            RetrievalUnavailable, CannotWrite: see `put`.
        """
        with self._writing():
            if self._state.changes:
                self._rewrite(self._state.changes)

    def refresh(self) -> bool:
        """Take in what another process wrote; whether there was anything.

        Raises:
            RetrievalUnavailable: the folder is damaged.
        """
        with self._lock:
            before = self._state
            if self._stored is not None:
                self._state = self._stored.news(before)
            return self._state is not before

    def _now(self) -> State:
        return self._state

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Hold the right to write, with what others wrote before taken in."""
        with self._lock:
            if self._stored is None:
                yield
                return
            with self._stored.writing():
                self.refresh()
                yield

    def _apply(self, put: Sequence[ToolDocument], removed: Sequence[str], watch: Watch | None = None) -> None:
        state = self._state
        changes = state.with_changes(put, removed)
        room = min(DELTA_DOCUMENTS, max(_SMALLEST_DELTA, len(state.base.names) // 8))
        without_vectors = self._embedder is not None and state.base.dense is None
        if without_vectors or len(changes) > room:
            self._rewrite(changes, watch)
        elif put or removed:
            state = State.of(state.base, changes, state.vectors())
            if self._stored is not None:
                self._stored.append(put, removed, state.vectors())
            self._state = state

    def _rewrite(self, changes: Changes, watch: Watch | None = None) -> None:
        """Write a segment of the old one with `changes`."""
        state = self._state
        if self._stored is not None:
            self._stored.check()  # what is damaged is not copied

        def write_to(place: Path | None) -> Segment:
            return state.written(changes, place, self._embedder, watch)

        segment = write_to(None) if self._stored is None else self._stored.replace(write_to)
        self._state = State.of(segment, {})


def _by_name(documents: Iterable[ToolDocument]) -> dict[str, ToolDocument]:
    found: dict[str, ToolDocument] = {}
    for document in documents:
        if not document.name:
            raise no_name(document)
        if found.setdefault(document.name, document) is not document:
            raise same_name(document.name)
    return found
