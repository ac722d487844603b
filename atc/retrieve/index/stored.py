"""An index on disk, as one process uses it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from atc.retrieve import embedders
from atc.retrieve.base import RetrievalUnavailable
from atc.retrieve.document import ToolDocument
from atc.retrieve.embed import Embedder
from atc.retrieve.index import changes as log
from atc.retrieve.index import folder as files
from atc.retrieve.index.embedded import FILE
from atc.retrieve.index.folder import OnMessage
from atc.retrieve.index.segment import Segment
from atc.retrieve.index.state import State
from protocols.files import cannot_write

if TYPE_CHECKING:
    from atc.retrieve.base import Floats


class Stored:
    """The folder of an index, and how much of it this process has seen."""

    def __init__(self, folder: Path, embedder: Embedder | None, on_message: OnMessage | None) -> None:
        """`embedder`: of the vectors; None: the one that made them."""
        self.folder = folder
        self._embedder, self._on_message = embedder, on_message
        self._manifest = ""
        self._seen = 0  # bytes of the log

    def writing(self) -> AbstractContextManager[None]:
        """Hold the right to write.

        Raises:
            CannotWrite: the folder cannot be made or written.
        """
        return files.locked(self.folder, self._on_message)

    def load(self) -> State:
        """What the folder holds.

        Raises:
            RetrievalUnavailable: there is no index, it is damaged, made by another version or another embedder.
        """
        while True:
            text, manifest = files.read(self.folder)
            try:
                files.check(self.folder, manifest)
                embedder = self._made_by(manifest.embedder)
                segment = Segment.open(self.folder / manifest.segment, embedder)
                if len(segment.names) != manifest.documents:
                    raise files.damaged(self.folder, f"{len(segment.names):,} documents")
                state, seen = _replayed(State.of(segment, {}), self.folder / manifest.log, 0)
            except (RetrievalUnavailable, OSError, ValueError, EOFError, SyntaxError) as error:
                if files.read(self.folder)[0] != text:  # merged meanwhile by another process
                    continue
                if isinstance(error, RetrievalUnavailable):
                    raise
                raise files.damaged(self.folder, f"{type(error).__name__}: {error}") from error
            self._manifest, self._seen = text, seen
            return state

    def news(self, state: State) -> State:
        """`state`, or what came of it where another process wrote.

        Raises:
            RetrievalUnavailable: see `load`.
        """
        text, manifest = files.read(self.folder)
        if text != self._manifest:
            return self.load()
        state, self._seen = _replayed(state, self.folder / manifest.log, self._seen)
        return state

    def append(self, put: Iterable[ToolDocument], removed: Iterable[str], vectors: Mapping[str, Floats]) -> None:
        """Write one call's changes down.

        Raises:
            CannotWrite: the log cannot be written.
        """
        manifest = files.read(self.folder)[1]
        try:
            self._seen = log.append(self.folder / manifest.log, self._seen, put, removed, vectors)
        except OSError as error:
            raise cannot_write(self.folder / manifest.log, error) from error

    def check(self) -> None:
        """Read all of the segment and compare it with its checksums.

        Raises:
            RetrievalUnavailable: it is not as it was written.
        """
        files.check(self.folder, files.read(self.folder)[1], all_bytes=True)

    def replace(self, write: Callable[[Path], Segment]) -> Segment:
        """A new segment, made by `write` in the folder that it is given, in place of the old one and its log.

        Raises:
            CannotWrite: a file cannot be written; the old ones stay valid.
        """
        number = files.next_number(self.folder)
        place = self.folder / files.segment_name(number)
        try:
            segment = self._tried(write, place)
            self._manifest = files.commit(self.folder, files.manifest_of(place, number, segment))
        except OSError as error:
            raise cannot_write(self.folder, error) from error
        (self.folder / FILE).unlink(missing_ok=True)
        self._seen = 0
        return segment

    @staticmethod
    def _tried(write: Callable[[Path], Segment], place: Path) -> Segment:
        try:
            return write(place)
        except BaseException:
            shutil.rmtree(place, ignore_errors=True)
            raise

    def _made_by(self, name: str | None) -> Embedder | None:
        if name is None:
            return None
        if self._embedder is None:
            return Named(name)
        if self._embedder.name != name:
            raise RetrievalUnavailable(
                f"the index in {str(self.folder)!r} was made with the embedder {name!r}, not"
                f" {self._embedder.name!r}; name that one, or rebuild it with 'atc tools index'."
            )
        return self._embedder


class Named:
    """An embedder by name, looked for when its first text comes: searching by words needs none."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return self._chosen.dimensions

    def documents(self, texts: Sequence[str]) -> Floats:
        """See `Embedder`."""
        return self._chosen.documents(texts)

    def queries(self, texts: Sequence[str]) -> Floats:
        """See `Embedder`."""
        return self._chosen.queries(texts)

    @cached_property
    def _chosen(self) -> Embedder:
        return embedders.choose(self.name)


def _replayed(state: State, path: Path, offset: int) -> tuple[State, int]:
    """`state` after the changes of the log behind `offset`, and where they end."""
    changes, vectors, end = log.read(path, offset)
    if not changes:
        return state, end
    put = [document for document in changes.values() if document is not None]
    removed = [name for name, document in changes.items() if document is None]
    return State.of(state.base, state.with_changes(put, removed), state.vectors() | vectors), end
