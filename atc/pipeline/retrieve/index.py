"""`ToolIndex`: the documents of a set of tools, searched by words and by meaning.

The documents are stored in one SQLite file (`DocumentStore`). The bm25s matrix, the vectors and the
faiss lists are derived from it; they are kept in folders next to the file and memory-mapped. A
folder's name has a hash of its inputs. Derived data is rebuilt if it is missing, damaged or of an
earlier generation of the documents.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self, TypeVar

import numpy as np
from numpy.lib.format import open_memmap

from atc.pipeline.retrieve.base import Embedder, Ranker, require
from atc.pipeline.retrieve.dense import EXACT_ROWS, Dense, build_lists
from atc.pipeline.retrieve.document import ToolDocument, vector_text, words_text
from atc.pipeline.retrieve.document_store import DocumentStore, EmbedAll, Watch
from atc.pipeline.retrieve.lexical import Lexical
from atc.pipeline.retrieve.vocabulary import TOKENIZER, tokens
from protocols.private_files import deny_others, write_error

_DerivedData = TypeVar("_DerivedData")

_BLOCK = 512
_VECTORS = "vectors.npy"
_LISTS = "lists.faiss"


class ToolIndex:
    """The documents of a set of tools, ranked by words and, with an embedder, by meaning.

    Each document is identified by its position. An index does not change. If the tools change, a
    new index is built, for which only new documents are embedded. Several threads may search at
    once.
    """

    def __init__(
        self, store: DocumentStore, *, embedder: Embedder | None = None, watch: Watch | None = None
    ) -> None:
        """Open an index of the documents that `store` has; `build` fills the store first.

        Raises:
            RetrievalUnavailable: the store or the embedding model is not available.
        """
        self.store = store
        self.folder: Path | None = store.folder
        """The folder of the index, or None if the index is kept in memory."""
        self._generation = store.generation
        self.lexical: Ranker = self._words()
        """The ranker by words: BM25 over `words_text`."""
        self.names: Sequence[str] = self.lexical.names
        """The names of the documents, in order of position."""
        self.dense: Dense | None = None if embedder is None else self._vectors(embedder, watch)
        """The ranker by meaning over `vector_text`; None if the index has no embedder."""
        self.documents: Mapping[str, ToolDocument] = _Documents(store, self.names)
        """The documents, keyed by name. Each is read from the store on access."""
        if watch is not None:
            watch(len(self.names))

    @classmethod
    def build(
        cls,
        documents: Iterable[ToolDocument],
        *,
        folder: Path | None = None,
        embedder: Embedder | None = None,
        embed_all: EmbedAll | None = None,
        watch: Watch | None = None,
    ) -> Self:
        """Build an index of exactly `documents`, in memory or in `folder`.

        Only new documents are embedded. A process that builds in the same folder at the same time
        waits until this build has ended. If `embed_all` is not None, it computes the vectors, for
        example in other processes; it must use the same model as `embedder`. `watch` is called with
        the number of documents that are done.

        Raises:
            ValueError: two documents have the same name, or one has no name. The folder is left
                unchanged.
            RetrievalUnavailable: a package or the embedding model is not available (vectors
                computed until then are kept), or the file in the folder cannot be used.
            CannotWrite: the folder cannot be written.
        """
        store = DocumentStore(folder)
        with store.lock_folder():
            store.replace_documents(documents)
            if embed_all is not None and embedder is not None:
                texts = map(vector_text, store.documents())
                store.embed_with(embed_all, texts, embedder.name, watch=watch)
            return cls(store, embedder=embedder, watch=watch)

    @cached_property
    def expansions(self) -> DocumentStore | None:
        """The document store, if it has texts that a model wrote about the documents; else None."""
        return self.store if self.store.expanded_count else None

    def close(self) -> None:
        """Close the document store of the index."""
        self.store.close()

    def _words(self) -> Lexical:
        names: list[str] = []

        def texts() -> Iterator[str]:
            for document in self.store.documents():
                names.append(document.name)
                yield words_text(document)

        if self.folder is None:
            return Lexical.build(names, texts())
        return self._load_or_make(
            "words", "", lambda place: Lexical.build(names, texts()).save(place), Lexical.open
        )

    def _vectors(self, embedder: Embedder, watch: Watch | None) -> Dense:
        large = len(self.names) > EXACT_ROWS
        if self.folder is None:
            vectors = self._embed_documents(embedder, watch, None)
            return Dense(
                self.names, vectors, embedder, lists=build_lists(vectors) if large else None
            )

        def make(place: Path) -> None:
            vectors = self._embed_documents(embedder, watch, place / _VECTORS)
            if large:
                import faiss

                faiss.write_index(build_lists(vectors), str(place / _LISTS))

        def read(place: Path) -> Dense:
            vectors = np.load(place / _VECTORS, mmap_mode="r" if self.names else None)
            lists = None
            if large:
                require("an index of this size", "faiss")
                import faiss

                lists = faiss.read_index(str(place / _LISTS))
            return Dense(self.names, vectors, embedder, lists=lists)

        return self._load_or_make("vectors", embedder.name, make, read)

    def _embed_documents(self, embedder: Embedder, watch: Watch | None, path: Path | None) -> Any:
        """Return the vectors of all documents, shape (documents, dimensions).

        They are in memory or, if `path` is not None, in a memory-mapped file.
        """
        # float16 takes half the space; scores differ in the fifth decimal.
        kind = np.float32 if len(self.names) <= EXACT_ROWS else np.float16
        vectors: Any = None
        done = 0
        documents = self.store.documents()
        while block := list(islice(documents, _BLOCK)):
            rows = self.store.embed_texts([vector_text(document) for document in block], embedder)
            if vectors is None:
                shape = (len(self.names), rows.shape[1])
                vectors = (
                    np.empty(shape, kind) if path is None else open_memmap(path, "w+", kind, shape)
                )
            vectors[done : done + len(rows)] = rows
            done += len(rows)
            if watch is not None:
                watch(done)
        if vectors is None:
            vectors = np.zeros((0, embedder.dimensions), kind)
            if path is not None:
                np.save(path, vectors)
        return vectors

    def _load_or_make(
        self,
        kind: str,
        key: str,
        make: Callable[[Path], object],
        read: Callable[[Path], _DerivedData],
    ) -> _DerivedData:
        """Load data derived from the documents, such as vectors, from its folder.

        `read` loads the folder. If the folder is missing or damaged, `make` writes it first. `make`
        fills a folder with a temporary name, which is then renamed, so that a folder is always
        complete.
        """
        assert self.folder is not None
        made_of = hashlib.sha256(f"{index_fingerprint()} {key}".encode()).hexdigest()[:12]
        place = self.folder / f"{kind}-{self._generation}-{made_of}"
        if place.is_dir():
            try:
                return read(place)
            except (
                OSError,
                ValueError,
                EOFError,
                KeyError,
                IndexError,
                TypeError,
                AttributeError,
                RuntimeError,
            ):
                shutil.rmtree(place, ignore_errors=True)
        try:
            with TemporaryDirectory(
                dir=self.folder, prefix="making-", ignore_cleanup_errors=True
            ) as temporary:
                new = Path(temporary) / kind
                new.mkdir()
                make(new)
                deny_others(new)
                new.rename(place)
            for old in self.folder.glob(f"{kind}-*"):
                if not old.name.startswith(f"{kind}-{self._generation}-"):
                    shutil.rmtree(old, ignore_errors=True)
            return read(place)
        except OSError as error:
            raise write_error(self.folder, error) from error


class _Documents(Mapping[str, ToolDocument]):
    """The documents of an index, keyed by name and read from the store on access.

    For a document that another process has removed from the store since the index was opened, a
    document with nothing but the name is returned.
    """

    def __init__(self, store: DocumentStore, names: Sequence[str]) -> None:
        self._store = store
        self._names = names

    @cached_property
    def _name_set(
        self,
    ) -> frozenset[str]:
        # Built late: for a million names it takes most of the time of opening.
        return frozenset(self._names)

    def __getitem__(self, name: str) -> ToolDocument:
        document = self._store.document(name)
        if document is None and name not in self._name_set:
            raise KeyError(name)
        return document or ToolDocument(name=name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@cache
def index_fingerprint() -> str:
    """Return a hash of how texts and words are made from a document.

    It changes with the tokenizer and with the texts that are indexed. Derived data that was made
    with another hash is outdated and is not used.
    """
    probe = ToolDocument(
        name="getUserToken2",
        description="Finds the users' HTTPServer naïvely; 搜索工具, поиск!",
        title="Title",
        category="Category",
        collection="collection_v2",
        parameters={"user_id": "whose"},
        returns=("tokens",),
    )
    made = [TOKENIZER, words_text(probe), vector_text(probe), *tokens(words_text(probe))]
    return hashlib.sha256(json.dumps(made).encode()).hexdigest()[:16]
