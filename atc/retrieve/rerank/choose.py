"""A cross-encoder by what a person writes: a folder, or a server's URL."""

from __future__ import annotations

from urllib.parse import urlsplit

from atc.retrieve.base import RetrievalUnavailable
from atc.retrieve.rerank.cross_encoder import CrossEncoder
from atc.retrieve.rerank.endpoint import EndpointReranker
from atc.retrieve.rerank.onnx import OnnxCrossEncoder


def cross_encoder(name: str) -> CrossEncoder:
    """The model of a folder (`OnnxCrossEncoder`) or behind an `http(s)` URL (`EndpointReranker`); `URL#MODEL` names one
    of the server's models.

    Raises:
        RetrievalUnavailable: `name` is empty: there is no model to fall back on.
    """
    if not name:
        raise RetrievalUnavailable(
            "re-ranking needs a cross-encoder, and none comes with atc; name the folder of one (model.onnx and"
            " tokenizer.json) or a server's URL: rerank:model=DIR or rerank:model=http://127.0.0.1:8080/v1."
        )
    if urlsplit(name).scheme in {"http", "https"}:
        url, _, model = name.partition("#")
        return EndpointReranker(url, model=model)
    return OnnxCrossEncoder(name)
