"""Search in a toolbox by any method, whose results are improved in two ways.

Tools that the query names come first, and the tools that produce required ids are added.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from atc.core.config import Config
from atc.core.parallel import Pool
from atc.pipeline.retrieve.base import Hit, Retrieval, Retriever, require
from atc.pipeline.retrieve.document import ToolDocument, documents
from atc.pipeline.retrieve.embedders import describe_missing, is_ready
from atc.pipeline.retrieve.methods import AUTO, read_method
from atc.pipeline.retrieve.planned import with_producers
from protocols.model import Ask
from protocols.sources import absolute_source
from protocols.toolbox import Toolbox

if TYPE_CHECKING:
    from atc.pipeline.retrieve.index import ToolIndex

_WORD = re.compile(r"\w+")
_MANY = 100
"""Number of hits that are requested from the method if producers are to be added.

A producer that also fits the query is then preferred to one that does not.
"""
_MOST_BLENDED = 100_000
"""Largest number of tools for which `auto` chooses `blend`.

That method scores every tool for every query.
"""
READ = 15
"""Number of the best hits whose documentation is searched for names of other tools."""
_MOST_NAMED = 10
_SPELLED = re.compile(r"[_\d]|[a-z][A-Z]")
"""Pattern of words with an underscore, a digit or camel case.

If a query contains a tool's name of this form, it refers to the tool.
"""


@dataclass(frozen=True, kw_only=True)
class Finder:
    """A `Retriever` for a toolbox that improves the results of any `method` in two ways.

    A tool that the query names is ranked first. If `closure` is True, the tools that return the ids
    which the found tools require are included, within the limit `k`.
    """

    toolbox: Toolbox
    method: Retriever
    closure: bool = True

    def search(self, query: str, *, k: int) -> Retrieval:
        """Search with the method, and return at most `k` of the improved results, best first."""
        named = self._find_named_tools(query)
        found = self.method.search(query, k=max(k, _MANY) if self.closure else k)
        others = [hit for hit in found.hits if hit.tool not in named]
        scores = [hit.score for hit in found.hits] or [0.0]
        above = max(scores) + max(max(scores) - min(scores), 1.0)
        hits = [
            *(Hit(name, above - number / 1000, "named") for number, name in enumerate(named)),
            *others,
        ]
        chosen = with_producers(hits, self.toolbox, k=k) if self.closure else hits[:k]
        return replace(found, hits=tuple(chosen))

    def _find_named_tools(self, query: str) -> list[str]:
        """Return the tools that the query refers to by name, in the order of the query.

        An ordinary word (`search`) counts as a name only if it is the entire query.
        """
        words = [word for word in _WORD.findall(query) if word in self.toolbox]
        return [
            word for word in dict.fromkeys(words) if _SPELLED.search(word) or word == query.strip()
        ]


def describe_words_alone(config: Config) -> str:
    """Return a sentence that says why the default search compares words alone, or "".

    Without an embedding model, the search finds less. The model is not downloaded automatically, so
    the sentence tells the user how to get it.
    """
    if config.retrieval != AUTO:
        return ""
    why = describe_missing(config.embedder, folder=config.cache_dir / "models")
    return f"Tools were searched by words alone: {why}." if why else ""


def named_in_docs(found: Sequence[str], toolbox: Toolbox) -> list[str]:
    """Return further tools that the documentation of the first tools in `found` names.

    A tool is named by its alias or its original name. The result has at most `_MOST_NAMED` tools,
    in the order in which they are named, and none of `found`.
    """
    known = set(found)
    named: dict[str, None] = {}
    for alias in found[:READ]:
        document = ToolDocument.of(toolbox[alias])
        texts = (document.title, document.description, *document.parameters.values())
        words = [word for text in texts for word in _WORD.findall(text) if _SPELLED.search(word)]
        aliases = [word if word in toolbox else _alias_of(word, toolbox) for word in words]
        named |= dict.fromkeys(one for one in aliases if one is not None and one not in known)
    return list(named)[:_MOST_NAMED]


def _alias_of(name: str, toolbox: Toolbox) -> str | None:
    """Return the alias of the only tool with this original name, or None."""
    found = toolbox.find_all(name)
    return found[0].alias if len(found) == 1 and found[0].alias in toolbox else None


def open_index(
    toolbox: Toolbox,
    config: Config,
    *,
    method: str = AUTO,
    pool: Pool | None = None,
    watch: Callable[[int], None] | None = None,
) -> ToolIndex:
    """Open the search index of `toolbox` and update it. Only changed documents are embedded again.

    The index is kept in the configured folder, else in the cache under a hash of the toolbox's
    sources, else (for tools made in Python) in memory. The index has vectors if `method` needs
    them. If `method` is `auto`, it has vectors if the embedding model is already installed. `pool`
    is a pool of workers that compute the vectors. `watch` is called with the number of tools read.

    Raises:
        RetrievalUnavailable: a package or the embedding model is missing, or the folder cannot be
            used.
    """
    require(f"searching {len(toolbox)} tools", "numpy", "bm25s", "Stemmer")
    from atc.pipeline.retrieve.embed import choose_embedder, open_embedder
    from atc.pipeline.retrieve.index import ToolIndex

    models = config.cache_dir / "models"
    folder = config.index
    # With `on=bm25` or `of=bm25`, no vectors are needed.
    by_meaning = method != AUTO and read_method(method)[0].embeds and "=bm25" not in method
    wanted = is_ready(config.embedder, folder=models) if method == AUTO else by_meaning
    embedder = choose_embedder(config.embedder, folder=models) if wanted else None
    if folder is None and config.tools:
        sources = json.dumps([[*map(absolute_source, config.tools)], config.embedder])
        folder = config.cache_dir / "indexes" / hashlib.sha256(sources.encode()).hexdigest()[:16]
    embed_all = (
        partial(pool, partial(open_embedder, config.embedder, models)) if pool is not None else None
    )
    return ToolIndex.build(
        documents(toolbox.values()),
        folder=folder,
        embedder=embedder,
        embed_all=embed_all,
        watch=watch,
    )


def open_finder(
    spec: str, index: ToolIndex, toolbox: Toolbox, *, ask: Ask | None = None, threads: int = 16
) -> Retriever:
    """Build a search for the tools of `toolbox` with the method that `spec` describes.

    See `Finder` for how its results are improved. `ask` is the model for methods that need one, and
    `threads` limits its concurrent requests.

    Raises:
        UnknownMethod, RetrievalUnavailable: see `atc.pipeline.retrieve.factory.build`.
    """
    from atc.pipeline.retrieve.factory import Setup, build

    setup = Setup(index=index, ask=ask, expansions=index.expansions, threads=threads)
    return Finder(toolbox=toolbox, method=build(resolve_method(spec, index), setup))


def resolve_method(spec: str, index: ToolIndex) -> str:
    """Return the method `spec`, or for `auto` the best method for this index that asks no model."""
    if spec != AUTO:
        return spec
    if index.dense is None:
        return "bm25"
    return "blend" if index.expansions and len(index.names) <= _MOST_BLENDED else "hybrid"
