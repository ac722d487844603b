"""Re-Invoke (Chen et al., 2024) and Doc2Query: documents with synthetic queries, queries taken apart into intents."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from atc.core.types import Usage
from atc.pipeline.retrieve.base import Embedder, Floats, Positions, Ranker, Retrieval
from atc.pipeline.retrieve.dense import Dense
from atc.pipeline.retrieve.document import ToolDocument, vector_text, words_text
from atc.pipeline.retrieve.document_store import DocumentStore
from atc.pipeline.retrieve.expand import QUERIES
from atc.pipeline.retrieve.fuse import hits, multi_view
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
    """Re-Invoke's documents: a copy with each synthetic query, whose embeddings are averaged (Algorithm 2).

    The mean is not brought to length one, so that a score is the mean of the copies' similarities. A document without
    queries counts as it stands.
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
    """BM25 over documents with all their synthetic queries behind them.

    BM25 scores of copies do not average into a document's: rare words of one query would count as often as it has
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
    """A ranker by meaning over documents with their predicted queries behind them, one text each: N = 10 in ToolQP.

    The queries are those of Re-Invoke: ToolQP writes both by one prompt (Figure 12). This is Doc2Query as it was
    published; ToolQP's own baseline of that name (Table 5) takes the mean over copies of the document with one query
    each, which is `expanded_dense`; by words it is `expanded_lexical`. An embedding model reads only the beginning of a
    text, 256 tokens for MiniLM, so that of a long document it sees few of the queries, or none.
    """
    every = [
        "\n".join([vector_text(document), *expansions.texts(document, most=queries)])
        for document in documents
    ]
    return Dense(
        [document.name for document in documents], expansions.embed_texts(every, embedder), embedder
    )


def mean_rows(vectors: Floats, owners: Positions, count: int) -> Floats:
    """The mean of the rows of each of `count` owners; an owner of none has the zero vector."""
    total = np.zeros((count, vectors.shape[1]), np.float64)
    np.add.at(total, owners, vectors)
    rows = np.maximum(np.bincount(owners, minlength=count), 1)
    mean: Floats = (total / rows[:, None]).astype(np.float32)
    return mean


_MOST_INTENTS = 6
_MAX_TOKENS = 300
_LONGEST_QUERY = 6000
"""Characters of a query that the model reads; the end of a longer one is left out."""
SCHEMA = an_object({"intents": a_list(a_text(200, least=3), most=_MOST_INTENTS, least=1)})

FoundIntents: TypeAlias = tuple[tuple[str, ...], Usage]
"""The intents of a query, and what the model took."""


def extract_intents(query: str, ask: Ask) -> FoundIntents:
    """The intents that the model sees in a query (§3.2); the query itself where its reply holds none.

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
    "also|then|additionally|please|plus|can|could|would|will|should|may|do|does|did|is|are|was|what|which|who|where|when"
    "|why|how|if|whether|let|tell|give|show|find|get|recommend|suggest|provide|help|make|create|search|look|check|send"
    "|list|explain|compare|calculate|convert|translate|write|book|buy|play|i|i'm|i'd|we"
)
_CONJUNCTION = re.compile(
    rf" ?, ?(?:and|but|then|plus) (?:also |then |additionally )?"
    rf"|,? (?:as well as|and also|and then|along with|in addition to) "
    rf"| and (?=(?:{_AFTER})\b)"
    rf"| ?, ?(?=(?:{_AFTER}) )",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"^(?:also|additionally|furthermore|moreover|besides|in addition|lastly|finally|and|but|then|plus)\b[\s,]*",
    re.IGNORECASE,
)
_LEAST_WORDS = 3
"""A shorter part asks for nothing of its own: `Thank you`, `any ideas?`."""
_MOST_REQUESTS = 8


def split_requests(query: str) -> tuple[str, ...]:
    """The requests of a query, in its order and its words; the whole query where it is one. At most eight.

    It is cut at the ends of sentences, and at conjunctions and commas behind which a request may begin. A part of
    fewer than three words is left out.
    """
    parts: dict[str, None] = {}
    for line in query.splitlines():
        for sentence in _SENTENCE.split(
            " ".join(line.split())
        ):  # one blank at a time: no pattern runs over many
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
    """A `Retriever` over any ranker, usually one over expanded documents (`expanded_dense`, `expanded_lexical`).

    `find` takes a query apart; None is the ablation without (the query is the only view). Several threads may search at
    once.
    """

    def __init__(
        self, ranker: Ranker, *, find: Callable[[str], FoundIntents] | None = None
    ) -> None:
        self._ranker = ranker
        self._find = find

    def search(self, query: str, *, k: int) -> Retrieval:
        """The `k` best tools; the transcript lists the intents.

        Raises:
            ModelUnavailable, RetrievalUnavailable: see `Retriever.search`.
        """
        views, usage = self._find(query) if self._find is not None else ((query,), Usage())
        transcript = [f"intent: {view}" for view in views] if self._find is not None else []
        lists = [hits(one, self._ranker.names, k=k) for one in self._ranker.top(views, n=k)]
        return Retrieval(
            hits=tuple(multi_view(lists)[:k]), transcript=tuple(transcript), usage=usage
        )
