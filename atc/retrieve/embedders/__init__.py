"""Embedding models: implementations of `atc.retrieve.embed.Embedder`, and the choice among them.

`table.py` the models that are fetched at first use · `onnx.py` runs one, `mixed.py` several side by side · `openai.py`
any OpenAI-compatible endpoint.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from atc.retrieve.base import RetrievalUnavailable
from atc.retrieve.embed import Embedder
from atc.retrieve.embedders.table import BOTH, MODELS, PACKAGES, Mix
from atc.retrieve.needs import missing, require

__all__ = ["DEFAULT", "MODELS", "choose", "pull", "ready"]

DEFAULT = BOTH.name


def choose(
    name: str = DEFAULT,
    *,
    folder: Path | None = None,
    threads: int | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    on_message: Callable[[str], None] | None = None,
) -> Embedder:
    """The embedder of this name, which its `.name` gives back; nothing is loaded or asked before its first text.

    A model of `MODELS` is fetched into `folder` at its first text; `openai:MODEL` or `openai:MODEL@DIMENSIONS` is one
    of an endpoint.

    Raises:
        RetrievalUnavailable: there is no such embedder, its packages are missing, or the endpoint is not configured.
    """
    if at := _endpoint_model(name):
        require(f"the embedder {name!r}", "numpy")
        from atc.retrieve.embedders.openai import OpenAIEmbedder

        base, _, dimensions = at.rpartition("@")
        if base and dimensions.isdecimal():
            return OpenAIEmbedder(base, dimensions=int(dimensions))
        return OpenAIEmbedder(at)
    if name not in MODELS:
        raise RetrievalUnavailable(
            f"no embedder {name!r}; there are {', '.join(sorted(MODELS))}, and 'openai:MODEL' for an endpoint."
        )
    require(f"the embedding model {name!r}", *PACKAGES)
    from atc.retrieve.embedders.mixed import MixedEmbedder
    from atc.retrieve.embedders.onnx import OnnxEmbedder

    made = partial(OnnxEmbedder, folder=folder, threads=threads, on_progress=on_progress, on_message=on_message)
    model = MODELS[name]
    if isinstance(model, Mix):
        return MixedEmbedder(name, [(made(part), share) for part, share in model.parts])
    return made(model)


def ready(name: str = DEFAULT, *, folder: Path | None = None) -> bool:
    """Whether `name` can be used at once: its packages are installed, its files are here and were verified.

    An endpoint counts as ready where one is configured.
    """
    from atc.models.fetch import cached
    from atc.models.openai import configured

    if _endpoint_model(name):
        return configured() and not missing("numpy")
    if name not in MODELS or missing(*PACKAGES):
        return False
    return all(cached(file, folder=folder) for file in MODELS[name].files)


def pull(
    name: str,
    *,
    folder: Path | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    on_message: Callable[[str], None] | None = None,
) -> list[Path]:
    """Fetch the files of the model of `MODELS` of this name where they are missing; its packages are not asked for.

    Raises:
        ModelUnavailable: they cannot be had.
    """
    from atc.models.fetch import fetch

    files = MODELS[name].files
    return [fetch(file, folder=folder, on_progress=on_progress, on_message=on_message) for file in files]


def _endpoint_model(name: str) -> str:
    """The model that `openai:MODEL` names; empty where `name` is no endpoint's."""
    kind, _, model = name.partition(":")
    return model if kind == "openai" else ""
