"""BM25 over tool documents.

Tokens are runs of letters and digits, lower-cased; names are split on case and underscores; English stop words are
dropped; the rest is stemmed (Snowball English). Defaults k1 = 1.5, b = 0.75 (bm25s, Lucene's variant).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from atc.retrieve.base import Hit, Retrieval
from protocols.errors import AtcError
from protocols.render import retrieval_text
from protocols.toolbox import Toolbox

_STOP_WORDS = frozenset(
    """
    a about above after again all also am an and any are as at be because been before being below between both but by
    can could did do does doing down during each few for from further had has have having he her here hers him his how
    i if in into is it its itself just me more most my no nor not now of off on once only or other our out over own
    please same she should so some such than that the their them then there these they this those through to too under
    until up very was we were what when where which while who whom why will with would you your
    """.split()  # noqa: SIM905 (a list of a hundred literals is no easier to read)
)


class RetrievalUnavailable(AtcError):
    """The packages that search needs are not installed."""


class Bm25:
    """An index over one toolbox; built once, then only read."""

    def __init__(self, names: Sequence[str], index: Any, stemmer: Any) -> None:
        self._names, self._index, self._stemmer = names, index, stemmer

    @classmethod
    def build(cls, toolbox: Toolbox) -> Bm25:
        """Index every tool of `toolbox`.

        Raises:
            RetrievalUnavailable: bm25s or PyStemmer is not installed.
        """
        try:
            import bm25s
            import Stemmer
        except ImportError as missing:
            raise RetrievalUnavailable(
                f"searching {len(toolbox)} tools needs {missing.name!r}; install it with"
                " pip install 'automatic-tool-chain[retrieval]', or pass fewer tools."
            ) from missing
        stemmer = Stemmer.Stemmer("english")
        documents = [_tokens(retrieval_text(tool.protocol), stemmer) for tool in toolbox.values()]
        index = bm25s.BM25(k1=1.5, b=0.75)
        if any(documents):
            index.index(documents, show_progress=False)
        return cls(list(toolbox), index if any(documents) else None, stemmer)

    def search(self, query: str, *, k: int) -> Retrieval:
        """The `k` best tools; a tool named exactly in the query comes first; one that shares no word never comes."""
        scores = dict.fromkeys(self._names, 0.0)
        tokens = _tokens(query, self._stemmer)
        if self._index is not None and tokens:
            scores = dict(zip(self._names, map(float, self._index.get_scores(tokens)), strict=True))
        named = set(re.findall(r"\w+", query)) & set(self._names)
        ranked = sorted(scores, key=lambda name: (name not in named, -scores[name], name))
        hits = [Hit(name, scores[name]) for name in ranked if scores[name] > 0 or name in named]
        return Retrieval(hits=tuple(hits[:k]))


def _tokens(text: str, stemmer: Any) -> list[str]:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text).replace("_", " ")
    words = [word for word in re.findall(r"[^\W_]+", spaced.lower()) if word not in _STOP_WORDS]
    stems: list[str] = stemmer.stemWords(words)
    return stems
