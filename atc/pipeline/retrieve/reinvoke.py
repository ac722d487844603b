"""The search methods Re-Invoke (Chen et al., 2024) and Doc2Query.

Documents get synthetic queries, which a model has written. In Re-Invoke, a query is also split into
its intents.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from atc.core.types import Usage
from atc.pipeline.retrieve.base import Embedder, Floats, Positions, Ranker, Retrieval, hits
from atc.pipeline.retrieve.dense import Dense
from atc.pipeline.retrieve.document import ToolDocument, vector_text, words_text
from atc.pipeline.retrieve.document_store import DocumentStore
from atc.pipeline.retrieve.expand import QUERIES
from atc.pipeline.retrieve.fuse import multi_view
from atc.pipeline.retrieve.lexical import Lexical
from atc.pipeline.retrieve.model_replies import Tally, a_list, a_text, an_object, json_object, texts
from atc.pipeline.retrieve.prompts import fill
from protocols.model import Ask, Message


def expanded_dense(
    documents: Sequence[ToolDocument],
    expansions: DocumentStore,
    embedder: Embedder,
    *,
    queries: int = QUERIES,
) -> Ranker:
    """Build the dense ranker of Re-Invoke (Algorithm 2) over documents with synthetic queries.

    There is one copy of a document for each of its queries, and the embeddings of the copies are
    averaged. The mean is not normalised, so that a score is the mean of the copies' similarities. A
    document without queries is embedded alone.
    """
    copies = []
    for document in documents:
        written = expansions.texts(document, most=queries)
        copies.append(
            [f"{vector_text(document)}\n{query}" for query in written] or [vector_text(document)]
        )
    names = [document.name for document in documents]
    owners = np.repeat(np.arange(len(documents)), [len(texts) for texts in copies])
    every = [text for texts in copies for text in texts]
    vectors = expansions.embed_texts(every, embedder)
    return Dense(names, mean_rows(vectors, owners, len(names)), embedder)


def expanded_lexical(
    documents: Sequence[ToolDocument],
    expansions: DocumentStore,
    *,
    kinds: Sequence[str] = ("queries",),
    queries: int = QUERIES,
) -> Ranker:
    """Build a BM25 ranker over documents with all their synthetic queries appended.

    `kinds` are the kinds of texts to append, see `EXPANSION_KINDS`. BM25 scores of copies cannot be
    averaged into a document's score: rare words of a single query would count as often as there are
    copies. So one text holds all queries, as in Doc2Query.
    """
    every = [
        "\n".join([words_text(one), *expansions.texts(one, kinds, most=queries)])
        for one in documents
    ]
    return Lexical.build([document.name for document in documents], every)


def d2q(
    documents: Sequence[ToolDocument],
    expansions: DocumentStore,
    embedder: Embedder,
    *,
    queries: int = QUERIES,
) -> Ranker:
    """Build the dense ranker of Doc2Query: documents with their synthetic queries appended.

    Each document is one text with up to `queries` queries (N = 10 in the ToolQP paper). The queries
    are those of Re-Invoke, because ToolQP uses the same prompt for both methods (Figure 12). The
    Doc2Query baseline in Table 5 of ToolQP averages copies of the document with one query each,
    which is `expanded_dense`; the lexical variant is `expanded_lexical`. An embedding model reads
    only the beginning of a text, 256 tokens for MiniLM, so with a long document it reads few of the
    queries or none.
    """
    every = [
        "\n".join([vector_text(document), *expansions.texts(document, most=queries)])
        for document in documents
    ]
    return Dense(
        [document.name for document in documents], expansions.embed_texts(every, embedder), embedder
    )


def mean_rows(vectors: Floats, owners: Positions, count: int) -> Floats:
    """Return the mean vector of each of `count` owners, such as documents with several queries.

    `owners` has the number of the owner of each row of `vectors`. An owner without rows gets the
    zero vector.
    """
    total = np.zeros((count, vectors.shape[1]), np.float64)
    np.add.at(total, owners, vectors)
    rows = np.maximum(np.bincount(owners, minlength=count), 1)
    mean: Floats = (total / rows[:, None]).astype(np.float32)
    return mean


_MOST_INTENTS = 6
_MAX_TOKENS = 300
_LONGEST_QUERY = 6000
"""Maximum length, in characters, of a query that the model reads. The rest is cut off."""
SCHEMA = an_object({"intents": a_list(a_text(200, least=3), most=_MOST_INTENTS, least=1)})

FoundIntents: TypeAlias = tuple[tuple[str, ...], Usage]
"""The intents of a query, and the model's usage."""


def extract_intents(query: str, ask: Ask) -> FoundIntents:
    """Ask the model for the intents of a query (§3.2 of the Re-Invoke paper).

    If the reply contains no intent, return the query itself.

    Raises:
        ModelUnavailable: see `Ask`.
    """
    tally = Tally(ask)
    messages = [Message("system", fill("intents_intents"))]
    for number in (1, 2, 3):
        messages.append(Message("user", fill(f"intents_example_{number}_query")))
        messages.append(Message("assistant", fill(f"intents_example_{number}_intents")))
    messages.append(Message("user", query[:_LONGEST_QUERY]))
    reply = tally(messages, schema=SCHEMA, temperature=0.0, max_tokens=_MAX_TOKENS)
    found = texts(json_object(reply.text).get("intents"))
    return tuple(dict.fromkeys(found))[:_MOST_INTENTS] or (query,), tally.usage


_SENTENCE = re.compile(r"(?<=[.!?;]) |(?<=[.!?][\"')\]]) |(?<=[。！？])")
_AFTER = (
    "also|then|additionally|please|plus|can|could|would|will|should|may|do|does|did|is|are|was|what"
    "|which|who|where|when|why|how|if|whether|let|tell|give|show|find|get|recommend|suggest|provide"
    "|help|make|create|search|look|check|send|list|explain|compare|calculate|convert|translate"
    "|write|book|buy|play|i|i'm|i'd|we"
)
_CONJUNCTION = re.compile(
    rf" ?, ?(?:and|but|then|plus) (?:also |then |additionally )?"
    rf"|,? (?:as well as|and also|and then|along with|in addition to) "
    rf"| and (?=(?:{_AFTER})\b)"
    rf"| ?, ?(?=(?:{_AFTER}) )",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"^(?:also|additionally|furthermore|moreover|besides|in addition|lastly|finally|and|but|then"
    r"|plus)\b[\s,]*",
    re.IGNORECASE,
)
_LEAST_WORDS = 3
"""Minimum number of words in a request. Shorter parts request nothing, such as `Thank you`."""
_MOST_REQUESTS = 8


def split_requests(query: str) -> tuple[str, ...]:
    """Split a query into the single requests in it, in order and without changing the words.

    Return at most eight requests, or the whole query if it has only one. The query is cut at the
    ends of sentences, and at conjunctions and commas after which a request may begin. Parts of
    fewer than three words are dropped.
    """
    parts: dict[str, None] = {}
    for line in query.splitlines():
        # Single spaces keep the patterns from running over long whitespace.
        for sentence in _SENTENCE.split(" ".join(line.split())):
            clauses = (
                _OPENING.sub("", clause.strip(" \"'“”,;:-")).strip()
                for clause in _CONJUNCTION.split(sentence)
            )
            parts |= dict.fromkeys(
                clause for clause in clauses if len(re.findall(r"\w+", clause)) >= _LEAST_WORDS
            )
            if len(parts) >= _MOST_REQUESTS:
                break
    return tuple(parts)[:_MOST_REQUESTS] if len(parts) > 1 else (query.strip(),)


class ReInvoke:
    """A `Retriever` that searches for each intent of a query with a ranker, and merges the results.

    The ranker usually covers expanded documents (`expanded_dense`, `expanded_lexical`). `find`
    extracts the intents of a query; None is the ablation that searches for the query alone. Several
    threads may search at once.
    """

    def __init__(
        self, ranker: Ranker, *, find: Callable[[str], FoundIntents] | None = None
    ) -> None:
        self._ranker = ranker
        self._find = find

    def search(self, query: str, *, k: int) -> Retrieval:
        """Search for each intent of the query, and return the `k` best tools of all.

        The transcript lists the intents.

        Raises:
            ModelUnavailable, RetrievalUnavailable: see `Retriever.search`.
        """
        views, usage = self._find(query) if self._find is not None else ((query,), Usage())
        transcript = [f"intent: {view}" for view in views] if self._find is not None else []
        lists = [hits(one, self._ranker.names, k=k) for one in self._ranker.top(views, n=k)]
        return Retrieval(
            hits=tuple(multi_view(lists)[:k]), transcript=tuple(transcript), usage=usage
        )
