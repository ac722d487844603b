"""D2Q: documents expanded by the queries that they may answer (Nogueira et al., 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from atc.retrieve.base import Ranker
from atc.retrieve.dense import Dense
from atc.retrieve.document import ToolDocument, vector_text
from atc.retrieve.expand import QUERIES, Expansions
from atc.retrieve.expanded import expanded_lexical

if TYPE_CHECKING:
    from atc.retrieve.embed import Embedder


def d2q(
    documents: Sequence[ToolDocument],
    expansions: Expansions,
    embedder: Embedder | None = None,
    *,
    queries: int = QUERIES,
) -> Ranker:
    """A ranker over documents with their predicted queries behind them, one text each: N = 10 in ToolQP.

    By meaning with an `embedder`, by BM25 without. The queries are those of Re-Invoke: ToolQP writes both by one prompt
    (Figure 12). This is D2Q as it was published; ToolQP's own baseline of that name (Table 5) takes the mean over
    copies of the document with one query each, which is `expanded_dense`. A document without queries counts as it
    stands. An embedding model reads only the beginning of a text, 256 tokens for MiniLM, so that of a long document it
    sees few of the queries, or none.

    Raises:
        RetrievalUnavailable: a package or the embedding model is missing.
    """
    if embedder is None:
        return expanded_lexical(documents, expansions, queries=queries)
    texts = ["\n".join([vector_text(document), *expansions.texts(document, most=queries)]) for document in documents]
    return Dense.build([document.name for document in documents], texts, embedder)
