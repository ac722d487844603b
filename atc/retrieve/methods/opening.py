"""Opens the index of a toolbox and the search over it, as the configuration says."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from atc.config import Config
from atc.retrieve.abstain import Abstain
from atc.retrieve.base import RetrievalUnavailable, Retriever
from atc.retrieve.document import documents
from atc.retrieve.finder import Finder
from atc.retrieve.methods.method import AUTO, Setup
from atc.retrieve.methods.table import build, read
from atc.retrieve.needs import require
from protocols.toolbox import Toolbox

if TYPE_CHECKING:
    from atc.retrieve.embed import Embedder
    from atc.retrieve.expand import Expansions
    from atc.retrieve.index import ToolIndex
    from protocols.ask import Ask

Watch = Callable[[int], None]


def open_index(
    toolbox: Toolbox,
    config: Config,
    *,
    method: str = AUTO,
    watch: Watch | None = None,
    talk: Callable[[str], None] | None = None,
) -> ToolIndex:
    """The index of `toolbox`, brought up to date: only documents that have changed are read again.

    It stands in the configured folder, else in the cache by the toolbox's sources, else (tools made in Python) in
    memory. It has vectors where `method` goes by meaning; with `auto`, where the embedding model is there already.
    `watch` is told how many tools were read, `talk` what a person should know.

    Raises:
        RetrievalUnavailable: a package or the embedding model is missing, or the folder cannot be used.
    """
    require(f"searching {len(toolbox)} tools", "numpy", "bm25s", "Stemmer")
    from atc.retrieve.index import ToolIndex

    embedder = embedder_for(method, config)
    folder = index_folder(config)
    found = documents(toolbox.values())
    if folder is None:
        return ToolIndex.build(found, embedder=embedder, watch=watch)
    if ToolIndex.stands(folder):
        try:
            index = ToolIndex.open(folder, embedder=embedder, on_message=talk)
            if embedder is None or index.dense is not None:
                index.sync(found, watch=watch)
                return index
        except RetrievalUnavailable as error:  # all that an index holds comes from the tools
            if talk is not None:
                talk(f"The index is made anew: {error}")
    return ToolIndex.build(found, folder=folder, embedder=embedder, watch=watch, on_message=talk)


def embedder_for(method: str, config: Config) -> Embedder | None:
    """The configured embedding model where `method` needs one; with `auto`, where it needs no download."""
    from atc.retrieve import embedders

    folder = config.cache_dir / "models"
    wanted = embedders.ready(config.embedder, folder=folder) if method == AUTO else read(method)[0].embeds
    return embedders.choose(config.embedder, folder=folder) if wanted else None


def index_folder(config: Config) -> Path | None:
    """Where the index of the configured tools is kept; None: nowhere, they have no sources to know it by."""
    if config.index is not None or not config.tools:
        return config.index
    sources = json.dumps([list(config.tools), config.embedder])
    return config.cache_dir / "indexes" / hashlib.sha256(sources.encode()).hexdigest()[:16]


def open_finder(
    spec: str,
    index: ToolIndex,
    toolbox: Toolbox,
    *,
    ask: Ask | None = None,
    planner: Ask | None = None,
    expansions: Expansions | None = None,
    threads: int = 16,
    abstain: bool = False,
) -> Retriever:
    """A search of `toolbox` by the method that `spec` spells, see `Finder`; with `abstain`, nothing where nothing fits.

    Raises:
        UnknownMethod, RetrievalUnavailable: see `build`.
    """
    setup = Setup(index=index, ask=ask, planner=planner, expansions=expansions, threads=threads)
    method = build(spelled_out(spec, index), setup)
    return Finder(toolbox=toolbox, method=method, common=_common(index), fits=Abstain.over(index) if abstain else None)


def spelled_out(spec: str, index: ToolIndex) -> str:
    """`spec`, or what `auto` stands for: by what the index has, none that asks a model."""
    if spec != AUTO:
        return spec
    if index.dense is None:
        return "bm25"
    return "blend" if expanded(index) else "hybrid"


def expanded(index: ToolIndex) -> bool:
    """Whether synthetic queries are kept beside an index."""
    from atc.retrieve.expand import Expansions

    return index.folder is not None and Expansions.stands(index.folder)


def _common(index: ToolIndex) -> Callable[[str], bool]:
    """Whether more documents than one have a word."""

    def common(word: str) -> bool:
        [found] = index.lexical.top([word], n=2)
        return len(found.positions) > 1

    return common
