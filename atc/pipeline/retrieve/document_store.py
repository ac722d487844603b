"""SQLite store for tool documents, their vectors, and texts that a model wrote about them."""

from __future__ import annotations

import fcntl
import hashlib
import json
import secrets
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from atc.pipeline.retrieve.base import Embedder, Floats, RetrievalUnavailable
from atc.pipeline.retrieve.document import ToolDocument, dump_document, read_document
from protocols.private_files import private_file, private_folder, private_opener, write_error

FILE = "tools.sqlite"
EXPANSION_KINDS = ("queries", "facets", "contrast")
"""Kinds of texts that models write about a document.

`atc tools index` writes only queries, `benchmarks.retrieval` all kinds.
"""
_VERSION = 2
_BUSY_SECONDS = 60.0
_SCHEMA = Path(__file__).with_name("tables.sql").read_text()
_BEST_TEXTS = """
SELECT texts FROM expansions
WHERE document = :document AND kind = :kind AND (prompt, model) = (
    SELECT prompt, model FROM expansions WHERE document = :document AND kind = :kind
    GROUP BY prompt, model ORDER BY count(*) DESC, max(rowid) DESC LIMIT 1
) ORDER BY sample
"""
_BLOCK = 512
"""Number of texts that are looked up at a time, and embedded before the vectors are written."""

Watch: TypeAlias = Callable[[int], None]
"""Progress callback: called with the number of documents or texts done so far."""
EmbedAll: TypeAlias = Callable[[Iterable[list[str]]], Iterable[tuple[list[str], Floats]]]
"""Embeds lists of texts, perhaps in other processes.

It yields each list with its vectors, in any order.
"""


class DocumentStore:
    """Store for the documents of a set of tools and for data derived from them.

    It is an SQLite file in `folder` in WAL mode, or an in-memory database if `folder` is None.
    Texts written by models are keyed by the digest of the tool's document, the kind of text, the
    version of the prompt and the name of the model. So when a document changes, texts are written
    again only for that document. Several threads and processes may use one folder at once.

    Raises:
        RetrievalUnavailable: the file cannot be used. Every method may raise this.
        CannotWrite: the folder cannot be created.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self._lock = threading.RLock()
        if folder is not None:
            try:
                private_folder(folder)
                private_file(folder / FILE)
            except OSError as error:
                raise write_error(folder, error) from error
        with self._explaining():
            path = ":memory:" if folder is None else folder / FILE
            self._db = sqlite3.connect(
                path, timeout=_BUSY_SECONDS, check_same_thread=False, isolation_level=None
            )
            self._close = weakref.finalize(self, self._db.close)
            try:
                (version,) = self._db.execute("PRAGMA user_version").fetchone()
                if version not in (0, _VERSION):
                    raise sqlite3.DatabaseError(
                        f"it is of version {version}, this is version {_VERSION}"
                    )
                self._db.executescript(
                    f"PRAGMA journal_mode = WAL; {_SCHEMA} PRAGMA user_version = {_VERSION};"
                )
            except sqlite3.Error:
                self._db.close()
                raise

    def close(self) -> None:
        """Close the database. This also happens when the store is garbage-collected."""
        self._close()

    @contextmanager
    def lock_folder(self) -> Iterator[None]:
        """Keep other processes from building an index in the folder during the `with` block.

        If another process builds one there, wait first.
        """
        if self.folder is None:
            yield
            return
        with open(self.folder / "lock", "w", opener=private_opener) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    @property
    def generation(self) -> str:
        """A random text that changes whenever the documents in the store change.

        It is "" if the store never had any documents.
        """
        found = self._rows("SELECT name FROM generation")
        return str(found[0][0]) if found else ""

    def replace_documents(self, documents: Iterable[ToolDocument]) -> None:
        """Make `documents` the content of the store. Only new or changed documents are written.

        If this fails, the previous content is kept.

        Raises:
            ValueError: two documents have the same name, or one has no name.
        """
        with self._writing():
            had = dict(self._rows("SELECT name, digest FROM documents"))
            changed = not self.generation
            seen = set()
            for document in documents:
                key = _key(document.name)
                if not key or key in seen:
                    what = (
                        f"two documents are named {document.name!r}"
                        if key
                        else "a document has no name"
                    )
                    raise ValueError(
                        f"{what} ({document.description[:60]!r}); give each tool a name of its own."
                    )
                seen.add(key)
                if had.get(key) != document.digest:
                    changed = True
                    record = json.dumps(dump_document(document), separators=(",", ":"))
                    self._rows(
                        "INSERT OR REPLACE INTO documents (name, digest, record) VALUES (?, ?, ?)",
                        (key, document.digest, record),
                    )
            for key in had.keys() - seen:
                changed = True
                self._rows("DELETE FROM documents WHERE name = ?", (key,))
            if changed:
                self._rows("DELETE FROM generation")
                self._rows("INSERT INTO generation VALUES (?)", (secrets.token_hex(6),))

    def document(self, name: str) -> ToolDocument | None:
        """Return the document with this name, or None."""
        found = self._rows("SELECT record FROM documents WHERE name = ?", (_key(name),))
        return self._read(found[0][0]) if found else None

    def documents(self) -> Iterator[ToolDocument]:
        """Yield all documents in the order in which they were stored. They are read in batches."""
        place = -1
        while rows := self._rows(
            "SELECT place, record FROM documents WHERE place > ? ORDER BY place LIMIT 4096",
            (place,),
        ):
            place = rows[-1][0]
            yield from (self._read(record) for _, record in rows)

    def embed_texts(self, texts: Sequence[str], embedder: Embedder) -> Floats:
        """Return the vector of each text as one row, float32, shape (texts, dimensions).

        Each text is embedded only once; its vector is stored.

        Raises:
            RetrievalUnavailable: the model is not available. Vectors computed until then are kept.
        """
        import numpy as np

        vectors = np.zeros((len(texts), embedder.dimensions if not texts else 0), np.float32)
        for start in range(0, len(texts), _BLOCK):
            part = texts[start : start + _BLOCK]
            keys = [_vector_key(text, embedder.name) for text in part]
            found = self._vectors(keys)
            if missing := _find_missing_texts(part, keys, found):
                found |= self._keep_vectors(missing, embedder.embed(missing), embedder.name)
            rows = np.frombuffer(b"".join(found[key] for key in keys), "<f4").reshape(len(keys), -1)
            if not start:
                vectors = np.empty((len(texts), rows.shape[1]), np.float32)
            vectors[start : start + len(rows)] = rows
        return vectors

    def embed_with(
        self, embed_all: EmbedAll, texts: Iterable[str], embedder: str, *, watch: Watch | None
    ) -> None:
        """Compute the vectors that the store lacks for `texts` with `embed_all`, and store them.

        `embedder` is the name of the model that `embed_all` uses. Texts are passed on in the same
        blocks as in `embed_texts`, because the vector of a text depends slightly on the texts that
        are embedded together with it. `watch` is called with the number of texts looked up.
        Whatever `embed_all` raises is raised here; vectors computed until then are kept.
        """
        looked_up = 0

        def blocks() -> Iterator[list[str]]:
            nonlocal looked_up
            left = iter(texts)
            while part := list(islice(left, _BLOCK)):
                keys = [_vector_key(text, embedder) for text in part]
                looked_up += len(part)
                if missing := _find_missing_texts(part, keys, self._vectors(keys)):
                    yield missing

        for block, rows in embed_all(blocks()):
            self._keep_vectors(block, rows, embedder)
            if watch is not None:
                watch(looked_up)

    def _vectors(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        marks = ", ".join("?" * len(keys))
        query = f"SELECT key, vector FROM vectors WHERE key IN ({marks})"  # noqa: S608 - only `?`
        return dict(self._rows(query, keys))

    def _keep_vectors(
        self, texts: Sequence[str], rows: Floats, embedder: str
    ) -> dict[bytes, bytes]:
        made = {
            _vector_key(text, embedder): row.astype("<f4").tobytes()
            for text, row in zip(texts, rows, strict=True)
        }
        with self._writing():
            self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", list(made.items()))
        return made

    @property
    def expanded_count(self) -> int:
        """Number of current documents about which a model has written texts."""
        # The table `expansions` also has documents that were removed or changed since.
        [(count,)] = self._rows(
            "SELECT count(*) FROM documents WHERE digest IN (SELECT document FROM expansions WHERE"
            " texts != '[]')"
        )
        return int(count)

    def texts(
        self,
        document: ToolDocument,
        kinds: Sequence[str] = ("queries",),
        *,
        most: int | None = None,
    ) -> tuple[str, ...]:
        """Return the texts that models wrote about the current version of a document.

        At most `most` texts of each kind are returned. If several models or prompts have written
        texts, the set with the most replies is used, and of equal sets the newest.
        """
        found: list[str] = []
        for kind in kinds:
            key = {"document": document.digest, "kind": kind}
            replies = self._rows(_BEST_TEXTS, key)
            found += [text for (texts,) in replies for text in json.loads(texts)][:most]
        return tuple(found)

    def samples(
        self, document: ToolDocument, *, kind: str, prompt: str, model: str
    ) -> Mapping[int, tuple[str, ...]]:
        """Return the stored replies of a model about a document, each as the texts in it.

        They are those for this kind of text, version of the prompt and model, keyed by the number
        of the reply.
        """
        rows = self._rows(
            "SELECT sample, texts FROM expansions WHERE document = ? AND kind = ? AND prompt = ?"
            " AND model = ?",
            (document.digest, kind, prompt, model),
        )
        return {sample: tuple(json.loads(texts)) for sample, texts in rows}

    def keep(
        self,
        document: ToolDocument,
        texts: Sequence[str],
        *,
        kind: str,
        prompt: str,
        model: str,
        sample: int,
    ) -> None:
        """Store the texts of one reply of a model about a document.

        They are keyed by the document, the kind of text, the version of the prompt, the model's
        name and the number of the reply (`sample`). An empty reply records that the model wrote
        nothing useful.
        """
        self._rows(
            "INSERT OR REPLACE INTO expansions VALUES (?, ?, ?, ?, ?, ?)",
            (document.digest, kind, prompt, model, sample, json.dumps(list(texts))),
        )

    def _read(self, record: str) -> ToolDocument:
        try:
            return read_document(json.loads(record))
        except (ValueError, TypeError, AttributeError) as error:
            raise self._explain_unusable(error) from error

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Run the code of the `with` block in one write transaction."""
        with self._lock, self._explaining(), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            yield

    def _rows(self, statement: str, values: Any = ()) -> list[Any]:
        with self._lock, self._explaining():
            return self._db.execute(statement, values).fetchall()

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._explain_unusable(error) from error

    def _explain_unusable(self, error: Exception) -> RetrievalUnavailable:
        path = FILE if self.folder is None else str(self.folder / FILE)
        return RetrievalUnavailable(
            f"the index {path!r} cannot be used: {error}; free the file or the disk, or delete the"
            " file to have every tool read and, where that was asked for, expanded again with 'atc"
            " tools index'."
        )


def _key(name: str) -> bytes:
    """Encode the name of a document for storage.

    Names come from JSON, which allows lone surrogates.
    """
    return name.encode("utf-8", "surrogatepass")


def _vector_key(text: str, embedder: str) -> bytes:
    return hashlib.sha256(f"{embedder} {text}".encode("utf-8", "replace")).digest()[:16]


def _find_missing_texts(
    texts: Sequence[str], keys: Sequence[bytes], found: Mapping[bytes, bytes]
) -> list[str]:
    """Return the texts whose vectors the store does not have, without duplicates.

    `keys` are the keys of the texts, and `found` the vectors that the store has.
    """
    return list(
        {key: text for key, text in zip(keys, texts, strict=True) if key not in found}.values()
    )
