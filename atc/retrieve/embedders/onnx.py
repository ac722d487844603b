"""Embedding models on onnxruntime: tokens in, one vector of length one out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from atc.models.download import ModelFile
from atc.models.fetch import fetch
from atc.models.llama import free_cores
from atc.retrieve.base import RetrievalUnavailable
from atc.retrieve.embedders.distinct import embed_distinct, of_length_one
from atc.retrieve.embedders.table import PACKAGES, EmbeddingModel
from atc.retrieve.needs import require
from protocols.errors import ModelUnavailable

if TYPE_CHECKING:
    from atc.retrieve.base import Floats

_BATCH_TOKENS = 1024
"""Tokens in one run, padding counted: more gains nothing on a CPU and takes memory."""
_TOKEN_CHARACTERS = 100
"""No token covers more, so what lies beyond `max_tokens` times this needs no tokenizing."""


class OnnxEmbedder:
    """A model of the table as an `Embedder`. Its files are fetched and loaded at the first text; thread-safe.

    Equal texts get equal vectors, a blank text the zero vector, which is near to nothing. `folder` is where model files
    are kept, by default the user's cache; `threads` defaults to the cores that this process may use.
    """

    def __init__(
        self,
        model: EmbeddingModel,
        *,
        folder: Path | None = None,
        threads: int | None = None,
        on_progress: Callable[[int, int], None] | None = None,
        on_message: Callable[[str], None] | None = None,
    ) -> None:
        self.name, self.dimensions = model.name, model.dimensions
        self._model, self._threads = model, threads or free_cores()
        self._fetch = partial(fetch, folder=folder, on_progress=on_progress, on_message=on_message)
        self._loaded: tuple[Any, Any] | None = None
        self._lock = threading.Lock()

    def load(self) -> None:
        """Fetch what is missing and load the model now.

        Raises:
            RetrievalUnavailable: it cannot be had.
        """
        self._load()

    def documents(self, texts: Sequence[str]) -> Floats:
        """A row for each text, see `Embedder`."""
        return self._embed(texts, self._model.document_prefix)

    def queries(self, texts: Sequence[str]) -> Floats:
        """A row for each text that is looked for, see `Embedder`."""
        return self._embed(texts, self._model.query_prefix)

    def _embed(self, texts: Sequence[str], prefix: str) -> Floats:
        def embed(distinct: list[str]) -> Floats:
            tokenizer, session = self._load()
            longest = self._model.max_tokens * _TOKEN_CHARACTERS
            tokens = [tokenizer.encode(prefix + text[:longest]).ids for text in distinct]
            vectors = np.empty((len(tokens), self.dimensions), np.float32)
            for batch in _batches([len(ids) for ids in tokens]):
                vectors[batch] = self._run(session, [tokens[row] for row in batch])
            return vectors

        return embed_distinct(texts, embed, lambda: self.dimensions)

    def _run(self, session: Any, tokens: Sequence[Sequence[int]]) -> Floats:
        """The vectors of texts of about equal length."""
        ids = np.zeros((len(tokens), max(map(len, tokens))), np.int64)
        mask = np.zeros_like(ids)
        for row, text in enumerate(tokens):
            ids[row, : len(text)], mask[row, : len(text)] = text, 1
        known = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        outputs = session.run(None, {wanted.name: known[wanted.name] for wanted in session.get_inputs()})
        hidden = outputs[self._model.output]
        if self._model.pooling == "cls":
            pooled = hidden[:, 0]
        else:
            pooled = (hidden * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return of_length_one(pooled)

    def _load(self) -> tuple[Any, Any]:
        """The tokenizer and the session, once."""
        with self._lock:
            if self._loaded is None:
                self._loaded = self._opened()
            return self._loaded

    def _opened(self) -> tuple[Any, Any]:
        require(f"the embedding model {self.name!r}", *PACKAGES)
        import onnxruntime
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self._file(self._model.tokenizer)))
        tokenizer.no_padding()
        tokenizer.enable_truncation(self._model.max_tokens)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = self._threads
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # others may need the cores
        path = str(self._file(self._model.weights))
        return tokenizer, onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def _file(self, file: ModelFile) -> Path:
        try:
            return self._fetch(file)
        except ModelUnavailable as error:
            raise RetrievalUnavailable(str(error)) from error


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Rows of about equal length together, so that little is spent on padding."""
    batch: list[int] = []
    for row in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[row] > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch
