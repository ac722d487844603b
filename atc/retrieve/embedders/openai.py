"""Any OpenAI-compatible /embeddings endpoint as an `Embedder`."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from atc.models.openai_errors import key_problem, sentence
from atc.retrieve.base import RetrievalUnavailable
from atc.retrieve.embedders.distinct import embed_distinct, of_length_one

if TYPE_CHECKING:
    from openai import OpenAI

    from atc.retrieve.base import Floats

_OPENAI_URL = "https://api.openai.com/v1"
_DUMMY_KEY = "none"
"""Sent where no key is set: the client insists on one, and servers on one's own machine ignore it."""
_BATCH_TEXTS = 128
_OTHERWISE = "use the embedder 'minilm'"
_TEXT_CHARACTERS = 24_000
"""A request is refused as a whole for one text beyond the model's context, 8,192 tokens at OpenAI."""


class OpenAIEmbedder:
    """A model behind an endpoint. `api_key` and `base_url` default to OPENAI_API_KEY and OPENAI_BASE_URL.

    `dimensions` asks for shorter vectors than the model's own, where it knows how; it is part of the name then
    (`openai:MODEL@DIMENSIONS`). Vectors are brought to length one here. A blank text gets the zero vector.

    Raises:
        RetrievalUnavailable: there is neither a key nor a base URL.
    """

    def __init__(
        self,
        model: str,
        *,
        dimensions: int | None = None,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout_seconds: float = 60.0,
        max_retries: int = 4,
    ) -> None:
        self.name = f"openai:{model}" + (f"@{dimensions}" if dimensions else "")
        self._key = api_key or os.environ.get("OPENAI_API_KEY") or ""
        url = base_url or os.environ.get("OPENAI_BASE_URL") or ""
        if not (self._key or url):
            raise RetrievalUnavailable(
                f"the embedder {self.name!r} needs an endpoint: set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of"
                " your own, or use the embedder 'minilm'."
            )
        self.url = (url or _OPENAI_URL).rstrip("/")
        self._model, self._wanted, self._dimensions = model, dimensions, dimensions
        self._timeout_seconds, self._max_retries = timeout_seconds, max_retries
        self._client: OpenAI | None = None
        self._lock = threading.Lock()

    @property
    def dimensions(self) -> int:
        """The length of a vector; where it is not known yet, the endpoint is asked for one."""
        if self._dimensions is None:
            self.queries(["length"])
        assert self._dimensions is not None  # the line above raises or sets it
        return self._dimensions

    def documents(self, texts: Sequence[str]) -> Floats:
        """A row for each text, see `Embedder`; such endpoints know no difference between documents and queries.

        Raises:
            RetrievalUnavailable: the endpoint fails, or answers with something else than a vector for each text.
        """
        return embed_distinct(texts, self._embed, lambda: self.dimensions)

    queries = documents

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _embed(self, texts: list[str]) -> Floats:
        starts = range(0, len(texts), _BATCH_TEXTS)
        vectors = np.concatenate([self._request(texts[start : start + _BATCH_TEXTS]) for start in starts])
        if self._dimensions is None:
            self._dimensions = vectors.shape[1]
        return vectors

    def _request(self, texts: Sequence[str]) -> Floats:
        """The vectors of one batch, in the order of its texts."""
        from openai import OpenAIError, omit

        if problem := key_problem(self._key, self.url):
            raise RetrievalUnavailable(problem)
        try:
            reply = self._opened().embeddings.create(
                model=self._model,
                input=[text[:_TEXT_CHARACTERS] for text in texts],
                dimensions=self._wanted or omit,
                encoding_format="float",  # the default asks for base64, which not every server knows
            )
        except OpenAIError as error:
            said = sentence(error, url=self.url, model=self._model, seconds=self._timeout_seconds, otherwise=_OTHERWISE)
            raise RetrievalUnavailable(said) from error
        return self._checked(reply, len(texts))

    def _checked(self, reply: Any, count: int) -> Floats:
        """The vectors of a reply, if they are as many, as long and as finite as they should be."""
        try:
            rows = [item.embedding for item in sorted(reply.data, key=lambda item: int(item.index))]
            vectors = np.array(rows, np.float64).reshape(len(rows), -1)
        except (AttributeError, TypeError, ValueError) as error:
            raise self._odd("something that is not the embeddings API") from error
        if len(vectors) != count:
            raise self._odd(f"{len(vectors)} vectors for {count} texts")
        if not (vectors.size and np.isfinite(vectors).all()):
            raise self._odd("vectors that hold no finite numbers")
        if self._dimensions not in (None, vectors.shape[1]):
            raise self._odd(f"vectors of length {vectors.shape[1]}, expected {self._dimensions}")
        return of_length_one(vectors)

    def _odd(self, what: str) -> RetrievalUnavailable:
        return RetrievalUnavailable(
            f"the model endpoint {self.url} answered {self._model!r} with {what}; name an embedding model that it has,"
            f" or {_OTHERWISE}."
        )

    def _opened(self) -> OpenAI:
        from openai import OpenAI

        with self._lock:
            if self._client is None:
                self._client = OpenAI(
                    api_key=self._key or _DUMMY_KEY,
                    base_url=self.url,
                    timeout=self._timeout_seconds,
                    max_retries=self._max_retries,
                )
            return self._client
