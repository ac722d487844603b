"""A cross-encoder behind an HTTP endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from atc.retrieve.base import RetrievalUnavailable

if TYPE_CHECKING:
    from atc.retrieve.base import Floats


class EndpointReranker:
    """The `/rerank` of a server: llama.cpp started with `--rerank`, Jina, Cohere and what speaks like them.

    `url` is what `/rerank` is appended to, e.g. `http://127.0.0.1:8080/v1`. `model` and `api_key` are sent where given.
    """

    def __init__(self, url: str, *, model: str = "", api_key: str = "", timeout_seconds: float = 60.0) -> None:
        self.url = url.rstrip("/") + "/rerank"
        self.name = model or self.url
        self._model, self._key, self._timeout_seconds = model, api_key, timeout_seconds

    def scores(self, query: str, texts: Sequence[str]) -> Floats:
        """The endpoint's relevance of each text, shape (texts,).

        Raises:
            RetrievalUnavailable: the endpoint cannot be reached, refuses, or answers in another form.
        """
        import numpy as np

        if not texts:
            return np.zeros(0, np.float32)
        results = self._results({"query": query, "documents": list(texts), "top_n": len(texts)})
        scores = np.full(len(texts), np.nan, np.float32)
        for position, score in results:
            if 0 <= position < len(texts):
                scores[position] = score
        if np.isnan(scores).any():
            raise self._unavailable(f"scored {int((~np.isnan(scores)).sum())} of {len(texts)} documents")
        return scores

    def _results(self, body: dict[str, Any]) -> list[tuple[int, float]]:
        import requests

        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        body |= {"model": self._model} if self._model else {}
        try:
            reply = requests.post(self.url, json=body, headers=headers, timeout=self._timeout_seconds)
        except requests.RequestException as error:
            raise self._unavailable(f"gave no answer ({type(error).__name__})") from error
        if not reply.ok:
            raise self._unavailable(f"answered HTTP {reply.status_code} {' '.join(reply.text.split())[:200]!r}")
        try:
            found = [(int(item["index"]), float(item["relevance_score"])) for item in reply.json()["results"]]
        except (ValueError, KeyError, TypeError) as error:
            raise self._unavailable(
                "answered in another form than {'results': [{'index', 'relevance_score'}]}"
            ) from error
        return found

    def _unavailable(self, what: str) -> RetrievalUnavailable:
        return RetrievalUnavailable(
            f"the reranker at {self.url} {what}; check that a reranking model is served there, or search without it."
        )
