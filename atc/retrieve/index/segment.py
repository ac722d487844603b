"""A segment: documents that do not change, with what a search reads of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from atc.retrieve.base import RetrievalUnavailable
from atc.retrieve.document import ToolDocument, dump_document, read_document, vector_text, words_text
from atc.retrieve.embed import Embedder
from atc.retrieve.index.vectors import VectorsWriter
from atc.retrieve.lexical import Lexical
from atc.retrieve.lexical.strings import Strings, StringsWriter, mapped
from atc.retrieve.words import tokens

if TYPE_CHECKING:
    from atc.retrieve.base import Positions
    from atc.retrieve.dense import Dense

Watch = Callable[[int], None]

_DIGEST_BYTES = 24


@dataclass(frozen=True, slots=True)
class Segment:
    """Documents by position, in memory or mapped from a folder."""

    names: Strings
    records: Strings
    """Each document as JSON."""
    digests: Any
    """The digest of each, an array of ASCII bytes."""
    lexical: Lexical
    dense: Dense | None

    @classmethod
    def open(cls, folder: Path, embedder: Embedder | None) -> Segment:
        """What `write` left; without `embedder` it has no vectors.

        Raises:
            OSError, ValueError: files are not there, or do not belong together.
            RetrievalUnavailable: the vectors are not there, damaged, or of another embedder.
        """
        names = Strings.open(folder, "names")
        records, digests = Strings.open(folder, "documents"), mapped(folder / "digests.npy")
        if not len(names) == len(records) == len(digests):
            raise ValueError("the documents do not belong together")
        dense = None
        if embedder is not None:
            from atc.retrieve.dense import Dense

            dense = Dense.open(folder / "dense", names=names, embedder=embedder)
        return cls(names, records, digests, Lexical.open(folder / "lexical", names), dense)

    def document(self, position: int) -> ToolDocument:
        """The document at `position`.

        Raises:
            RetrievalUnavailable: its record is damaged.
        """
        try:
            document = read_document(json.loads(self.records[position]))
        except (ValueError, TypeError) as error:
            raise _damaged(self.names[position]) from error
        if document.name != self.names[position]:
            raise _damaged(self.names[position])
        return document


def _damaged(name: str) -> RetrievalUnavailable:
    return RetrievalUnavailable(f"the record of {name!r} in the index is damaged; rebuild it with 'atc tools index'.")


def write(
    documents: Iterable[ToolDocument],
    *,
    folder: Path | None = None,
    embedder: Embedder | None = None,
    base: Segment | None = None,
    removed: Positions | None = None,
    known: Mapping[str, Any] | None = None,
    beside: Segment | None = None,
    watch: Watch | None = None,
) -> Segment:
    """A segment of `documents`, behind those of `base` less the ones at `removed`; in `folder`, which is made.

    `known`: vectors by digest that need not be made again. `beside`: the segment whose IDF and mean length are used.
    `watch` is told how many documents are done.

    Raises:
        ValueError: two documents have the same name, or one has none.
        RetrievalUnavailable: a package is missing, or the embedding model cannot be had.
        OSError: a file cannot be written.
    """
    if folder is not None:
        folder.mkdir(parents=True)
    with _collecting(folder, embedder, known or {}, watch) as collected:
        if base is not None:
            collected.copy(base, _ranges(len(base.names), removed))
        rows = map(collected.add, documents)
        lexical = Lexical.of_tokens([], rows, beside=None if beside is None else beside.lexical)
        names, records, digests, dense = collected.finish(base or beside)
    if (twice := names.twice()) is not None:
        raise same_name(twice)
    if base is not None:
        nothing = np.zeros(0, dtype=np.int64)
        lexical = Lexical.joined(names, base.lexical, nothing if removed is None else removed, lexical)
    lexical.names = names
    segment = Segment(names, records, digests, lexical, dense)
    if folder is not None:
        names.save(folder, "names")
        records.save(folder, "documents")
        np.save(folder / "digests.npy", digests)
        lexical.save(folder / "lexical")
        if dense is not None:
            dense.save(folder / "dense")
            (folder / "vectors").unlink()
        return Segment.open(folder, embedder)
    return segment


def no_name(document: ToolDocument) -> ValueError:
    """The error for a document without a name."""
    return ValueError(f"a document has no name: {document.description[:60]!r}; a tool is found by its name.")


def same_name(name: str) -> ValueError:
    """The error for two documents of one name."""
    return ValueError(f"two documents are named {name!r}; a name stands for one tool, so rename one.")


@contextmanager
def _collecting(
    folder: Path | None, embedder: Embedder | None, known: Mapping[str, Any], watch: Watch | None
) -> Iterator[_Collected]:
    collected = _Collected(folder, embedder, known, watch)
    try:
        yield collected
    finally:
        collected.close()


class _Collected:
    """The parts of a segment, document by document."""

    def __init__(
        self, folder: Path | None, embedder: Embedder | None, known: Mapping[str, Any], watch: Watch | None
    ) -> None:
        self._names = StringsWriter(folder and folder / "names.text")
        self._records = StringsWriter(folder and folder / "documents.text")
        self._digests = bytearray()
        self._watch, self._done = watch, 0
        self._vectors = None if embedder is None else VectorsWriter(embedder, folder and folder / "vectors", known)

    def copy(self, base: Segment, ranges: Sequence[tuple[int, int]]) -> None:
        """Documents of another segment."""
        for first, after in ranges:
            self._names.copy(base.names, first, after)
            self._records.copy(base.records, first, after)
            self._digests += base.digests[first:after].tobytes()
            if self._vectors is not None and base.dense is not None:
                self._vectors.copy(base.dense.vectors[first:after])
            self._tell(after - first)

    def add(self, document: ToolDocument) -> list[str]:
        """One more document; its tokens."""
        if not document.name:
            raise no_name(document)
        self._names.add(document.name)
        self._records.add(json.dumps(dump_document(document), separators=(",", ":")))
        self._digests += document.digest.encode("ascii").ljust(_DIGEST_BYTES)
        if self._vectors is not None:
            self._vectors.add(document.digest, vector_text(document))
        self._tell(1)
        return tokens(words_text(document))

    def finish(self, like: Segment | None) -> tuple[Strings, Strings, Any, Dense | None]:
        """Names, records, digests and vectors; without any vector those of `like` say how long one is."""
        names, records = self._names.finish(hashed=True), self._records.finish(hashed=False)
        digests = np.frombuffer(bytes(self._digests), dtype=f"S{_DIGEST_BYTES}")
        if self._vectors is None:
            return names, records, digests, None
        from atc.retrieve.dense import Dense

        return (
            names,
            records,
            digests,
            Dense(names, self._vectors.finish(None if like is None else like.dense), self._vectors.embedder),
        )

    def close(self) -> None:
        """Let go of the files."""
        self._names.close()
        self._records.close()
        if self._vectors is not None:
            self._vectors.close()

    def _tell(self, documents: int) -> None:
        self._done += documents
        if self._watch is not None:
            self._watch(self._done)


def _ranges(size: int, removed: Positions | None) -> list[tuple[int, int]]:
    """What lies between the positions `removed`, as pairs of the first and the one after the last."""
    gaps = [-1, *([] if removed is None else removed.tolist()), size]
    return [(a + 1, b) for a, b in pairwise(gaps) if a + 1 < b]
