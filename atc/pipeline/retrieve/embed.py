"""Embedding models, which turn texts into vectors.

The vectors have length one, so that a dot product is a cosine.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atc.models.endpoint import OPENAI_URL, Endpoint, RequestRefused
from atc.models.fetch import fetch
from atc.models.llama import free_cores
from atc.pipeline.retrieve.base import Embedder, Floats, RetrievalUnavailable, require
from atc.pipeline.retrieve.embedders import DEFAULT, MODELS, PACKAGES, Encoder
from protocols.errors import ModelUnavailable

_BATCH_TOKENS = 1024
"""Number of tokens in one batch, including padding.

More brings no gain on a CPU and takes memory.
"""
_TOKEN_CHARACTERS = 100
"""Maximum length of a token in characters.

Text after `max_tokens` times this many characters need not be tokenized.
"""
_BATCH_TEXTS = 128
_TEXT_CHARACTERS = 24_000
"""Maximum length of a text in characters.

An endpoint refuses the whole request if one text exceeds the model's context (8,192 tokens at
OpenAI).
"""
_TIMEOUT_SECONDS = 60.0
_RETRIES = 4
_MOST_BYTES = 32_000_000
"""Maximum size of a reply in bytes: vectors of some thousand numbers of about twenty digits."""
_LARGEST = float(np.finfo(np.float32).max)
"""Largest number that is accepted in a vector.

Endpoints compute in float32; the length of a vector of such numbers is finite in float64.
"""
_OTHERWISE = "use the embedder 'minilm'"


def choose_embedder(name: str = DEFAULT, *, folder: Path | None = None) -> Embedder:
    """Return the embedding model with this name.

    Nothing is loaded or requested until it embeds its first text. A model of `MODELS` is then
    downloaded into `folder`. `openai:MODEL` is a model of an endpoint.

    Raises:
        RetrievalUnavailable: there is no such embedder, its packages are missing, or the endpoint
            is not configured.
    """
    if name.startswith("openai:"):
        return OpenAIEmbedder(name.removeprefix("openai:"))
    if name not in MODELS:
        raise RetrievalUnavailable(
            f"no embedder {name!r}; there are {', '.join(sorted(MODELS))}, and 'openai:MODEL' for"
            " an endpoint."
        )
    require(f"the embedding model {name!r}", *PACKAGES)
    parts: list[tuple[Embedder, float]] = [
        (OnnxEmbedder(part, folder=folder), share) for part, share in MODELS[name]
    ]
    return parts[0][0] if len(parts) == 1 else MixedEmbedder(name, parts)


@contextmanager
def open_embedder(
    name: str, folder: Path | None
) -> Iterator[Callable[[list[str]], tuple[list[str], Floats]]]:
    """Yield a function that embeds a list of texts, and returns the list with its vectors.

    The workers that build an index in parallel use this function.
    """
    embedder = choose_embedder(name, folder=folder)
    yield lambda texts: (texts, embedder.embed(texts))


def normalize_rows(vectors: NDArray[np.floating[Any]]) -> Floats:
    """Scale the rows of `vectors` (rows, dimensions) to length one. Zero rows stay zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Floats = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return scaled


def embed_distinct(
    texts: Sequence[str], embed: Callable[[list[str]], Floats], dimensions: Callable[[], int]
) -> Floats:
    """Return the vector of each of `texts` as one row, computing each distinct text only once.

    `embed` is the function that computes vectors; a blank text gets the zero vector without it.
    `dimensions` is called only if all texts are blank.
    """
    distinct = dict.fromkeys(text for text in texts if text.strip())
    rows = {text: row for row, text in enumerate(distinct)}
    # Neither tokenizers nor JSON accept lone surrogates.
    clean = [text.encode("utf-8", "replace").decode("utf-8") for text in rows]
    found = embed(clean) if rows else np.zeros((0, dimensions()), np.float32)
    vectors = np.concatenate([found, np.zeros((1, found.shape[1]), np.float32)])
    return vectors[[rows.get(text, -1) for text in texts]]


class MixedEmbedder:
    """An `Embedder` that concatenates the vectors of several embedders.

    Each embedder has a weight (`share`); the weights add up to one. Its vectors are scaled by the
    square root of the weight, so that a cosine is the weighted mean of the embedders' cosines.
    """

    def __init__(self, name: str, parts: Sequence[tuple[Embedder, float]]) -> None:
        self.name = name
        self._parts = parts
        self.dimensions = sum(part.dimensions for part, _ in parts)

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return the concatenated vectors of all embedders, one row for each text."""
        joined: Floats = np.concatenate(
            [np.float32(share**0.5) * part.embed(texts) for part, share in self._parts], 1
        )
        return joined


class OnnxEmbedder:
    """An `Embedder` that runs an encoder of `MODELS` with onnxruntime.

    The encoder is downloaded and loaded when it embeds its first text. `folder` is where model
    files are kept, by default the user's cache.
    """

    def __init__(self, model: Encoder, *, folder: Path | None = None) -> None:
        self.name = model.name
        self.dimensions = model.dimensions
        self._model = model
        self._folder = folder
        self._loaded: tuple[Any, Any] | None = None
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return the vector that the encoder gives for each text, as one row of an array."""
        return embed_distinct(texts, self._embed, lambda: self.dimensions)

    def _embed(self, texts: Sequence[str]) -> Floats:
        with self._lock:
            tokenizer, session = self._loaded = self._loaded or self._load()
        longest = self._model.max_tokens * _TOKEN_CHARACTERS
        tokens = [tokenizer.encode(text[:longest]).ids for text in texts]
        vectors = np.empty((len(tokens), self.dimensions), np.float32)
        for batch in _batches([len(ids) for ids in tokens]):
            vectors[batch] = self._run(session, [tokens[row] for row in batch])
        return vectors

    def _run(self, session: Any, tokens: Sequence[Sequence[int]]) -> Floats:
        """Return the vectors of texts of about equal length.

        A vector is the mean of the encoder's last hidden state over the tokens of the text.
        """
        ids = np.zeros((len(tokens), max(map(len, tokens))), np.int64)
        mask = np.zeros_like(ids)
        for row, text in enumerate(tokens):
            ids[row, : len(text)] = text
            mask[row, : len(text)] = 1
        known = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        outputs = session.run(
            None, {wanted.name: known[wanted.name] for wanted in session.get_inputs()}
        )
        hidden = outputs[self._model.output]
        return normalize_rows(
            (hidden * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        )

    def _load(self) -> tuple[Any, Any]:
        """Load the tokenizer and the onnxruntime session of the encoder."""
        import onnxruntime
        from tokenizers import Tokenizer

        try:
            files = [
                fetch(file, folder=self._folder)
                for file in (self._model.tokenizer, self._model.weights)
            ]
        except ModelUnavailable as error:
            raise RetrievalUnavailable(str(error)) from error
        tokenizer = Tokenizer.from_file(str(files[0]))
        tokenizer.no_padding()
        tokenizer.enable_truncation(self._model.max_tokens)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = free_cores()
        # Idle threads must not occupy cores that others need.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        return tokenizer, onnxruntime.InferenceSession(
            str(files[1]), options, providers=["CPUExecutionProvider"]
        )


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Group texts of similar length into batches, and yield the row numbers of each batch.

    `lengths` are the lengths of all texts. Similar lengths need little padding.
    """
    batch: list[int] = []
    for row in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[row] > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


class OpenAIEmbedder:
    """An `Embedder` that uses an OpenAI-compatible /embeddings endpoint.

    The endpoint is configured by OPENAI_API_KEY and OPENAI_BASE_URL.

    Raises:
        RetrievalUnavailable: neither a key nor a base URL is set.
    """

    def __init__(self, model: str) -> None:
        self.name = f"openai:{model}"
        self._model = model
        key = os.environ.get("OPENAI_API_KEY") or ""
        url = os.environ.get("OPENAI_BASE_URL") or ""
        if not (key or url):
            raise RetrievalUnavailable(
                f"the embedder {self.name!r} needs an endpoint: set OPENAI_API_KEY, or"
                f" OPENAI_BASE_URL for a server of your own, or {_OTHERWISE}."
            )
        self._endpoint = Endpoint(
            url=(url or OPENAI_URL).rstrip("/"),
            key=key,
            timeout_seconds=_TIMEOUT_SECONDS,
            max_retries=_RETRIES,
            max_bytes=_MOST_BYTES,
            model=model,
            fallback_advice=_OTHERWISE,
        )
        self._dimensions: int | None = None

    @property
    def dimensions(self) -> int:
        """The number of dimensions of the vectors.

        If it is unknown, one vector is requested from the endpoint.
        """
        return self._dimensions or int(self.embed(["length"]).shape[1])

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return the vector that the endpoint gives for each text, as one row of an array.

        Raises:
            RetrievalUnavailable: the endpoint fails, or does not answer with one vector for each
                text.
        """
        return embed_distinct(texts, self._embed, lambda: self.dimensions)

    def _embed(self, texts: list[str]) -> Floats:
        starts = range(0, len(texts), _BATCH_TEXTS)
        return np.concatenate(
            [self._request(texts[start : start + _BATCH_TEXTS]) for start in starts]
        )

    def _request(self, texts: Sequence[str]) -> Floats:
        """Request the vectors of one batch of texts, and return them in the order of the texts."""
        # The default encoding, base64, is not supported by every server.
        body = {
            "model": self._model,
            "input": [text[:_TEXT_CHARACTERS] for text in texts],
            "encoding_format": "float",
        }
        try:
            reply = self._endpoint.request("/embeddings", body)
        except (ModelUnavailable, RequestRefused) as error:
            raise RetrievalUnavailable(str(error)) from error
        try:
            vectors = _vectors(reply)
        except (KeyError, TypeError, ValueError, OverflowError):
            raise self._explain_useless_reply(
                "what are no vectors of numbers, one for each index"
            ) from None
        count, dimensions = vectors.shape
        if count != len(texts) or self._dimensions not in (None, dimensions):
            raise self._explain_useless_reply(
                f"{count} vectors of {dimensions} numbers for {len(texts)} texts"
            )
        self._dimensions = dimensions
        return normalize_rows(vectors)

    def _explain_useless_reply(self, found: str) -> RetrievalUnavailable:
        return RetrievalUnavailable(
            f"the model endpoint {self._endpoint.url} answered {self._model!r} with {found}; name"
            f" an embedding model that it has, or {_OTHERWISE}."
        )


def _vectors(reply: Any) -> NDArray[np.float64]:
    """Return the vectors in a reply of an /embeddings endpoint, in the order of the texts.

    The reply numbers the vectors from 0.

    Raises:
        KeyError, TypeError, ValueError, OverflowError: the reply has no vectors, or they are
            invalid.
    """
    rows = {_index(item): item["embedding"] for item in reply["data"]}
    if not rows or len(rows) != len(reply["data"]):
        raise ValueError("no vectors, or an index that is used twice")
    ordered = [rows[index] for index in range(len(rows))]
    if not all(
        isinstance(row, list) and row and _NUMBERS.issuperset(map(type, row)) for row in ordered
    ):
        raise ValueError("a row that is no list of numbers")
    vectors = np.array(ordered, np.float64)
    # Also catches NaN.
    if not (np.abs(vectors) <= _LARGEST).all():
        raise ValueError("a number that no model computes")
    return vectors


_NUMBERS = frozenset({int, float})


def _index(item: Any) -> int:
    index: object = item["index"]
    if type(index) is not int:
        raise TypeError("an index is an integer")
    return index
